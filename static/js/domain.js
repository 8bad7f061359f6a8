/* The form of a column: shows only the fields of the chosen kind and binning.

   Radio buttons of the kind inside [data-kind], of the binning inside [data-binning]; around the fields of some
   of them <div data-kinds="integer real" data-binnings="edges">. Hidden fields are disabled, so they are neither
   checked nor sent; where the chosen binning does not suit the kind, the first one that does is chosen.

   Where misfits go, inside [data-misfit], works like the binning. A yes-or-no column begins closed and numbers
   begin open; a list of categories asks. data-settled="integer real date": hidden for these kinds while the box
   inside [data-missing] is ticked, since then all that can be missing has its cell.

   A button with data-single-value="0" writes its value into the field of values that have a cell of their own, or into
   the one that data-field names: in the table every column has such a field. */
"use strict";
{
  const chosen = (form, group) => form.querySelector(`[data-${group}] input:checked`)?.value;
  const allows = (part, group, value) =>
    !(`${group}s` in part.dataset) || part.dataset[`${group}s`].split(" ").includes(value);

  const BEGINS = { boolean: "left-out", integer: "open", real: "open", date: "open" };

  function begin(form) {
    for (const choice of form.querySelectorAll("[data-misfit] input"))
      choice.checked = choice.value === BEGINS[chosen(form, "kind")];
  }

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
    const misfit = chosen(form, "misfit");
    const settled = (part) =>
      chosen(form, "missing") !== undefined && (part.dataset.settled ?? "").split(" ").includes(kind);
    for (const part of form.querySelectorAll("[data-kinds]:not([data-binning] *)")) {
      const shown =
        suits(part) && allows(part, "binning", binning) && allows(part, "misfit", misfit) && !settled(part);
      part.hidden = !shown;
      part.querySelectorAll("input, select, textarea").forEach((field) => { field.disabled = !shown; });
    }
  }

  const forms = () => [...document.querySelectorAll("[data-kind]")].map((part) => part.closest("form"));
  forms().forEach(arrange);
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form");
    if (!forms().includes(form)) return;
    if (event.target.name === "kind") begin(form);
    arrange(form);
  });
  document.addEventListener("click", (event) => {
    const asked = event.target.closest("[data-single-value]")?.dataset;
    const field = event.target.closest("form")?.elements[asked?.field ?? "single_values"];
    if (!asked || !field) return;
    field.value = `${field.value} ${asked.singleValue}`.trim();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
