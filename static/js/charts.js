/* Charts of public pages: a picture at once, and on demand what draws it live, or a PNG of it.

   data-figure-later in a figure   the place of the picture, with the address of the figure's data and program
   data-figure-load                the button that puts a live chart there, by js/figures.js
   data-picture                    a button's address of an SVG, which is saved as a PNG of twice its size */
"use strict";
{
  const SCALE = 2;

  function live(button) {
    const place = button.closest("figure").querySelector("[data-figure-later]");
    const plot = document.createElement("div");
    Object.assign(plot, { id: place.id, className: "plot waiting" });
    const { figureUrl, figureProgram, figureFailed } = place.dataset;
    Object.assign(plot.dataset, { figure: "", figureUrl, figureProgram, figureFailed });
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-labelledby", `${place.id}-title`);
    plot.setAttribute("aria-describedby", `${place.id}-caption`);
    place.replaceWith(plot);
    button.remove();
    document.dispatchEvent(new Event("portal:figures"));
  }

  async function png(button) {
    const image = new Image();
    image.src = button.dataset.picture;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = SCALE * image.naturalWidth;
    canvas.height = SCALE * image.naturalHeight;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `${button.dataset.pictureName}.png`;
      link.click();
      URL.revokeObjectURL(link.href);
    }, "image/png");
  }

  function equip() {
    for (const button of document.querySelectorAll("[data-figure-load][hidden], [data-picture][hidden]")) {
      button.hidden = false;
      button.addEventListener("click", () => (button.dataset.picture ? png(button) : live(button)));
    }
  }

  equip();
  document.addEventListener("htmx:afterSettle", equip);
}
