/* While the method is being worked out and none is chosen, the buttons that need one wait, and say why. In a form:
   [data-awaited] stands where nothing is chosen yet, [data-waits] are its buttons, [data-why-waiting] is the reason.
   Without scripts the buttons can be pressed, and the page that answers says what is missing. */
"use strict";
{
  function look() {
    document.querySelectorAll("form:has([data-waits])").forEach((form) => {
      const waits = form.querySelector("[data-awaited]") && !form.querySelector("[name=mechanism]:checked");
      const reason = form.querySelector("[data-why-waiting]");
      reason.hidden = !waits;
      form.querySelectorAll("[data-waits]").forEach((button) => {
        button.disabled = Boolean(waits);
        // What is hidden would be read with the button all the same.
        if (waits) button.setAttribute("aria-describedby", reason.id);
        else button.removeAttribute("aria-describedby");
      });
    });
  }

  look();
  document.addEventListener("change", look);
  document.addEventListener("htmx:afterSettle", look);
}
