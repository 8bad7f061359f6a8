/* The form of a column: shows only the fields of the chosen kind.

   <select data-kind> (or radio buttons inside an element with data-kind), and around the fields of some kinds
   <div data-kinds="integer real">. Hidden fields are disabled, so they are neither checked nor sent. */
"use strict";
{
  function chosen(control) {
    return control.matches("select") ? control.value : control.querySelector("input:checked")?.value;
  }

  function arrange(control) {
    const form = control.closest("form");
    for (const part of form.querySelectorAll("[data-kinds]")) {
      const shown = part.dataset.kinds.split(" ").includes(chosen(control));
      part.hidden = !shown;
      part.querySelectorAll("input, select, textarea").forEach((field) => { field.disabled = !shown; });
    }
  }

  const arrangeAll = () => document.querySelectorAll("[data-kind]").forEach(arrange);
  arrangeAll();
  document.addEventListener("htmx:afterSettle", arrangeAll);
  document.addEventListener("change", (event) => {
    const control = event.target.closest("[data-kind]");
    if (control) arrange(control);
  });
}
