/* The dial between privacy and accuracy: a slider and two number fields that move each other.

   <div data-dial="/address">          the lookup; it gets ?epsilon=0.25 or ?half_width=14 (and what is in
                                       data-dial-query, such as "mechanism=laplace") and answers
                                       {"amount": "0.25", "half_width": 14}, or {"error": "a sentence"}
     <input type="range" data-dial-range>  its value is the logarithm (base 10) of the amount
     <input data-dial-amount>          ε or ρ, as text the server reads exactly; this one is the form's field
     <input data-dial-error="half_width">  ± people at 95 % (optional; null where a method has none); there may be
                                       another for a second error, by the name that the answer has for it
     <p data-dial-message>             where the error goes (role="status")
   </div>
   A checked input[name=mechanism] of the same form is asked for, and again when another is checked. Every other
   number of the answer fills the element inside the dial with data-dial-show="its name".
   Sends "dial:change" (it bubbles, with the answer in detail) after each answer; htmx can trigger on it. */
"use strict";
{
  const WAIT_MS = 150;

  function equip(dial) {
    const part = (name) => dial.querySelector(`[data-dial-${name}]`);
    const range = part("range");
    const amount = part("amount");
    const errors = [...dial.querySelectorAll("[data-dial-error]")];
    const message = part("message");
    let timer;
    let latest = 0;

    async function look(query) {
      const asked = ++latest;
      const parameters = new URLSearchParams(dial.dataset.dialQuery || "");
      const method = dial.closest("form")?.querySelector("input[name=mechanism]:checked");
      if (method) parameters.set("mechanism", method.value);
      Object.entries(query).forEach(([name, value]) => parameters.set(name, value));
      const answer = await fetch(`${dial.dataset.dial}?${parameters}`, { headers: { Accept: "application/json" } });
      const found = await answer.json();
      if (asked === latest) show(found);
    }

    function show(found) {
      message.textContent = found.error || "";
      if (found.error) return;
      if (document.activeElement !== amount) amount.value = found.amount;
      errors.forEach((error) => {
        if (document.activeElement !== error) error.value = found[error.dataset.dialError] ?? "";
      });
      if (document.activeElement !== range) range.value = Math.log10(Number(found.amount));
      const interval = found.half_width === null ? "" : `; ± ${found.half_width}`;
      range.setAttribute("aria-valuetext", found.amount + interval);
      dial.querySelectorAll("[data-dial-show]").forEach((place) => {
        place.textContent = found[place.dataset.dialShow] ?? "";
      });
      dial.dispatchEvent(new CustomEvent("dial:change", { bubbles: true, detail: found }));
    }

    function ask(query) {
      clearTimeout(timer);
      timer = setTimeout(() => look(query).catch((reason) => console.warn(reason)), WAIT_MS);
    }

    range.addEventListener("input", () => {
      amount.value = Number((10 ** Number(range.value)).toPrecision(2));
      ask({ epsilon: amount.value });
    });
    amount.addEventListener("input", () => amount.value && ask({ epsilon: amount.value }));
    errors.forEach((error) => {
      error.addEventListener("input", () => error.value && ask({ [error.dataset.dialError]: error.value }));
    });
    dial.closest("form")?.addEventListener("change", (event) => {
      if (event.target.name === "mechanism" && amount.value) ask({ epsilon: amount.value });
    });
    // What was worked out meanwhile may change the error, or be the first to have one.
    document.addEventListener("strategies:found", () => dial.isConnected && amount.value && ask({ epsilon: amount.value }));
    // Of a cost that nobody chose another is proposed, once a method is there that needs less.
    document.addEventListener("cost:proposed", (event) => {
      const proposed = dial.closest("form")?.elements.proposed;
      if (!dial.isConnected || !proposed || proposed.value !== amount.value) return;
      latest++;
      amount.value = proposed.value = event.detail.amount;
      ask({ epsilon: amount.value });
    });
    if (Number(amount.value) > 0) range.value = Math.log10(Number(amount.value));
    dial.dataset.dialReady = "";
  }

  const equipAll = () => document.querySelectorAll("[data-dial]:not([data-dial-ready])").forEach(equip);
  equipAll();
  document.addEventListener("htmx:afterSettle", equipAll);
}
