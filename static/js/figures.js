/* Draws every [data-figure] element with Plotly.

   data-figure-source   id of the json_script element that holds {data, layout}; or
   data-figure-url      address that answers with the same JSON
   data-figure-failed   the sentence to show instead if the chart cannot be drawn

   A colour written "var(--noisy)" anywhere in the figure is replaced by that custom property of portal.css,
   and again when the reader changes between light and dark. layout.height sets the height of the element;
   layout.meta.min_width keeps panels legible on a phone, where the figure then scrolls sideways.
   Include plotly.min.js before this file. Figures that htmx brings in later are drawn as they arrive. */
"use strict";
{
  const VARIABLE = /^var\((--[\w-]+)\)$/;
  const drawn = new Map();

  const configuration = (name) => ({
    responsive: true,
    displaylogo: false,
    modeBarButtons: [[
      { name: "PNG", title: "PNG", icon: Plotly.Icons.camera, click: (plot) => download(plot, name, "png") },
      { name: "SVG", title: "SVG", icon: Plotly.Icons.disk, click: (plot) => download(plot, name, "svg") },
    ]],
  });

  function download(plot, name, format) {
    const { width, height } = plot.getBoundingClientRect();
    Plotly.downloadImage(plot, { format, filename: name, width, height, scale: format === "png" ? 2 : 1 });
  }

  function coloured(value, style) {
    if (typeof value === "string") {
      const variable = VARIABLE.exec(value);
      return variable ? style.getPropertyValue(variable[1]).trim() : value;
    }
    if (Array.isArray(value)) return typeof value.at(-1) === "number" ? value : value.map((item) => coloured(item, style));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
  }

  async function read(element) {
    const { figureSource, figureUrl } = element.dataset;
    if (figureSource) return JSON.parse(document.getElementById(figureSource).textContent);
    const answer = await fetch(figureUrl, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`${figureUrl} answered ${answer.status}`);
    return answer.json();
  }

  function draw(element, figure) {
    const { data, layout } = coloured(figure, getComputedStyle(document.documentElement));
    const name = (document.getElementById(`${element.id}-title`)?.textContent || element.id).trim();
    return Plotly.react(element, data, layout, configuration(name));
  }

  async function show(element) {
    if (drawn.has(element)) return;
    drawn.set(element, null);
    try {
      const figure = await read(element);
      if (figure.layout.height) element.style.height = `${figure.layout.height}px`;
      if (figure.layout.meta?.min_width) element.style.minWidth = `${figure.layout.meta.min_width}px`;
      element.classList.remove("waiting");
      await draw(element, figure);
      drawn.set(element, figure);
    } catch (reason) {
      console.warn(reason);
      fail(element);
    }
  }

  function fail(element) {
    const sentence = document.createElement("p");
    sentence.className = "plot-failed";
    sentence.textContent = element.dataset.figureFailed;
    drawn.delete(element);
    element.replaceWith(sentence);
  }

  function redraw() {
    for (const [element, figure] of drawn) {
      if (!element.isConnected) drawn.delete(element);
      else if (figure) draw(element, figure);
    }
  }

  const showAll = () => document.querySelectorAll("[data-figure]").forEach(show);
  showAll();
  document.addEventListener("htmx:afterSettle", showAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.addEventListener("portal:tab", () => window.dispatchEvent(new Event("resize")));
}
