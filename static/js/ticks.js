/* One button for many boxes: <button type="button" data-ticks="selector" hidden> inside a fieldset.

   It ticks the fieldset's boxes that match the selector and unticks the others; data-among="[name=columns]" leaves all
   but these alone. Shown only where scripts run. */
"use strict";
{
  for (const button of document.querySelectorAll("[data-ticks]")) {
    const boxes = button.closest("fieldset").querySelectorAll(`input[type=checkbox]${button.dataset.among ?? ""}`);
    button.hidden = false;
    button.addEventListener("click", () => {
      for (const box of boxes) {
        const ticked = box.matches(button.dataset.ticks);
        if (box.checked === ticked) continue;
        box.checked = ticked;
        box.dispatchEvent(new Event("change", { bubbles: true }));
      }
    });
  }
}
