/* While the method is being worked out and none is chosen, the buttons that need one lead to the list of all methods, and
   say why. In a form: [data-awaited] stands where nothing is chosen yet, [data-waits] are its buttons,
   [data-why-waiting] is the reason. Without scripts the page that answers says what is missing. */
"use strict";
{
  const methods = (form) => form.querySelector("#all-methods");
  const waits = (form) => form.querySelector("[data-awaited]") && !form.querySelector("[name=mechanism]:checked");

  function look() {
    document.querySelectorAll("form:has([data-waits])").forEach((form) => {
      const reason = form.querySelector("[data-why-waiting]");
      // Where all methods are shown, one can be chosen.
      const isShown = waits(form) && !methods(form).open;
      reason.hidden = !isShown;
      form.querySelectorAll("[data-waits]").forEach((button) => {
        // What is hidden would be read with the button all the same.
        if (isShown) button.setAttribute("aria-describedby", reason.id);
        else button.removeAttribute("aria-describedby");
      });
    });
  }

  function choose(event) {
    const button = event.target.closest("[data-waits]");
    if (!button || !waits(button.form)) return;
    event.preventDefault();
    const all = methods(button.form);
    all.open = true;
    all.querySelector("[name=mechanism]")?.focus();
  }

  look();
  document.addEventListener("change", look);
  document.addEventListener("click", choose);
  document.addEventListener("toggle", look, true);
  document.addEventListener("htmx:afterSettle", look);
}
