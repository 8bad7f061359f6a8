/* Sortable tables: <table class="sortable" data-sortable>, with aria-sort="none" on each heading that sorts.

   The heading's text becomes a button. Cells sort by data-sort where it is given, otherwise by their text; a
   column sorts as numbers if all its cells are numbers, whatever their unit ("ε 0.25", "1,168", "± 14", "42 %").
   Each <tbody> is sorted by itself; its rows with data-stays stand first, in their order.

   data-finder: the id of a table whose rows are hidden unless they hold every word that is typed there. */
"use strict";
{
  const NUMBER = /[-−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?/i;
  const textOf = (cell) => (cell.dataset.sort ?? cell.textContent).trim();

  function numberOf(text) {
    const found = NUMBER.exec(text);
    return found ? Number(found[0].replaceAll(",", "").replace("−", "-")) : NaN;
  }

  function keys(rows, column, heading) {
    const texts = rows.map((row) => textOf(row.cells[column]));
    const numbers = texts.map(numberOf);
    if (heading.classList.contains("number")) return numbers.map((n) => (Number.isNaN(n) ? -Infinity : n));
    return texts.every((text) => text !== "" && Number.isFinite(Number(text))) ? numbers : texts;
  }

  const compare = (a, b) =>
    typeof a === "number" ? a - b || 0 : a.localeCompare(b, document.documentElement.lang, { numeric: true });

  function sort(table, heading) {
    const direction = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    table.querySelectorAll("thead th[aria-sort]").forEach((other) => other.setAttribute("aria-sort", "none"));
    heading.setAttribute("aria-sort", direction);
    for (const body of table.tBodies) sortRows(body, heading, direction === "ascending" ? 1 : -1);
  }

  function sortRows(body, heading, sign) {
    const rows = [...body.rows].filter((row) => !row.hasAttribute("data-stays"));
    const by = keys(rows, heading.cellIndex, heading);
    const order = rows.map((_, i) => i).sort((i, j) => sign * compare(by[i], by[j]) || i - j);
    body.append(...order.map((i) => rows[i]));
  }

  function equip(table) {
    table.removeAttribute("data-sortable");
    for (const heading of table.querySelectorAll("thead th[aria-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.append(button);
    }
  }

  function find(finder) {
    const table = document.getElementById(finder.dataset.finder);
    finder.removeAttribute("data-finder");
    finder.hidden = false;
    finder.querySelector("input").addEventListener("input", ({ target }) => {
      const words = target.value.toLowerCase().split(/\s+/);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
  }

  /* A table that is too wide for paper is printed in parts, each below the same rows. Differences are narrow. */
  const ON_PAPER = 4;
  const WITH_DIFFERENCES = 5;

  function part(table, first, last) {
    const copy = table.cloneNode(true);
    copy.querySelectorAll("[id]").forEach((each) => each.removeAttribute("id"));
    for (const row of copy.rows) {
      [...row.cells].filter((_, i) => i > 1 && (i < first || i >= last)).forEach((cell) => cell.remove());
    }
    return copy;
  }

  addEventListener("beforeprint", () => {
    for (const frame of document.querySelectorAll(".table-one")) {
      const table = frame.querySelector("table");
      const columns = table.rows[0].cells.length;
      const most = table.querySelector("th[data-difference]") ? WITH_DIFFERENCES : ON_PAPER;
      if (columns - 2 <= most || frame.dataset.inParts) continue;
      frame.dataset.inParts = "yes";
      for (let first = 2; first < columns; first += most) {
        const copy = part(table, first, first + most);
        copy.classList.add("part-on-paper");
        frame.append(copy);
      }
    }
  });
  addEventListener("afterprint", () => {
    document.querySelectorAll(".part-on-paper").forEach((copy) => copy.remove());
    document.querySelectorAll("[data-in-parts]").forEach((frame) => delete frame.dataset.inParts);
  });

  const equipAll = () => {
    document.querySelectorAll("table[data-sortable]").forEach(equip);
    document.querySelectorAll("[data-finder]").forEach(find);
  };
  equipAll();
  document.addEventListener("htmx:afterSettle", equipAll);
}
