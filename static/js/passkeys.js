/* <form data-passkey="address of the options" hidden> is shown where the browser has passkeys. Its button asks a device
   for one, puts what it says into the field “answer”, and sends the form. A field “name” stands where one is added. */
"use strict";
const known = window.PublicKeyCredential;
if (known?.parseRequestOptionsFromJSON && known.prototype.toJSON) {
  for (const form of document.querySelectorAll("[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answered(form).then((answer) => {
        form.elements.answer.value = JSON.stringify(answer);
        form.submit();
      }, () => { form.querySelector("[role=alert]").hidden = false; });
    });
  }
}

async function answered(form) {
  form.querySelector("[role=alert]").hidden = true;
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  const response = await fetch(form.dataset.passkey, { method: "POST", headers });
  if (!response.ok) throw new Error("no options");
  const options = await response.json();
  const isNew = "name" in form.elements;
  const credential = isNew
    ? await navigator.credentials.create({ publicKey: known.parseCreationOptionsFromJSON(options) })
    : await navigator.credentials.get({ publicKey: known.parseRequestOptionsFromJSON(options) });
  return credential.toJSON();
}
