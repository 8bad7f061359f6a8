/* The form of a column: shows only the fields of the chosen kind and binning.

   Radio buttons of the kind inside [data-kind], of the binning inside [data-binning]; around the fields of some
   of them <div data-kinds="integer real" data-binnings="edges">. Hidden fields are disabled, so they are neither
   checked nor sent; where the chosen binning does not suit the kind, the first one that does is chosen. */
"use strict";
{
  const chosen = (form, group) => form.querySelector(`[data-${group}] input:checked`)?.value;
  const allows = (part, group, value) =>
    !(`${group}s` in part.dataset) || part.dataset[`${group}s`].split(" ").includes(value);

  function arrange(form) {
    const kind = chosen(form, "kind");
    const choices = [...form.querySelectorAll("[data-binning] [data-kinds]")];
    const suits = (choice) => allows(choice, "kind", kind);
    choices.forEach((choice) => { choice.hidden = !suits(choice); });
    if (!choices.some((choice) => suits(choice) && choice.querySelector("input").checked)) {
      const first = choices.find(suits);
      if (first) first.querySelector("input").checked = true;
    }
    const binning = chosen(form, "binning");
    for (const part of form.querySelectorAll("[data-kinds]:not([data-binning] *)")) {
      const shown = suits(part) && allows(part, "binning", binning);
      part.hidden = !shown;
      part.querySelectorAll("input, select, textarea").forEach((field) => { field.disabled = !shown; });
    }
  }

  const forms = () => [...document.querySelectorAll("[data-kind]")].map((part) => part.closest("form"));
  forms().forEach(arrange);
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form");
    if (forms().includes(form)) arrange(form);
  });
}
