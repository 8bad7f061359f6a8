/* Upload with a drop zone and progress in bytes. Without scripts the form is an ordinary multipart form.

   <form data-upload>                  posted as it is, by XMLHttpRequest, with Accept: application/json
     <… data-dropzone>                 takes dropped files; holds the form's <input type="file">
     <… data-upload-chosen hidden>     name and size of the chosen file
     <… data-upload-progress hidden>   holds <progress>, [data-upload-bytes] and [data-upload-percent]
     <… data-upload-errors role="alert">  errors that belong to no field
   </form>
   The server answers {"location": "/address"} to go on, or {"errors": {"field": ["sentence"]}} with 400 or 409;
   each error is put after its field. Any other answer, or none, shows the sentence in data-upload-failed.
   With data-upload-direct="/address" the file goes to the storage itself, in parts: the address is told the form
   without the file, its size and its file_name, and answers {"bytes": of a part, "address": that signs a part,
   "finish": address, "give_up": address}. A part that fails is sent again, by a new signature. */
"use strict";
{
  // Of 1,024 each, as the server's pages say them.
  const UNITS = ["", "KB", "MB", "GB"], BYTES = { style: "unit", unit: "byte", unitDisplay: "long" };

  function size(bytes) {
    if (bytes < 1024) return bytes.toLocaleString(document.documentElement.lang, BYTES);
    const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
    const number = (bytes / 1024 ** power).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 });
    return `${number} ${UNITS[power]}`;
  }

  // The door refuses a file before anybody knows whose it is, so the page says in which language.
  const LANGUAGE = document.documentElement.lang;

  // Waits before something is tried again.
  const PAUSES_MS = [500, 1000, 2000, 4000, 8000];

  async function again(attempt) {
    for (const pause of PAUSES_MS) {
      try {
        return await attempt();
      } catch {
        await new Promise((resolve) => { setTimeout(resolve, pause); });
      }
    }
    return attempt();
  }

  function put(address, part, progress) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("PUT", address);
      request.upload.addEventListener("progress", progress);
      request.addEventListener("load", () => (request.status === 200 ? resolve() : reject(new Error(request.status))));
      request.addEventListener("error", reject);
      request.send(part);
    });
  }

  class Upload {
    constructor(form) {
      this.form = form;
      this.file = form.querySelector("input[type=file]");
      this.part = (name) => form.querySelector(`[data-upload-${name}]`);
      this.file.addEventListener("change", () => this.choose());
      form.addEventListener("submit", (event) => this.submit(event));
      this.equipZone(form.querySelector("[data-dropzone]"));
    }

    equipZone(zone) {
      const over = (event, inside) => {
        event.preventDefault();
        zone.classList.toggle("over", inside);
      };
      zone.addEventListener("dragover", (event) => over(event, true));
      zone.addEventListener("dragleave", (event) => over(event, false));
      zone.addEventListener("drop", (event) => {
        over(event, false);
        if (!event.dataTransfer.files.length) return;
        this.file.files = event.dataTransfer.files;
        this.choose();
      });
    }

    choose() {
      const [file] = this.file.files;
      this.part("chosen").hidden = !file;
      this.part("chosen").textContent = file ? `${file.name} · ${size(file.size)}` : "";
      this.clearErrors();
    }

    submit(event) {
      event.preventDefault();
      this.clearErrors();
      if (this.form.dataset.uploadDirect && this.file.files.length) {
        this.busy(true);
        this.sendParts(this.file.files[0]).then((told) => this.answer(told), () => this.fail());
        return;
      }
      const request = new XMLHttpRequest();
      request.open("POST", this.form.action);
      request.setRequestHeader("Accept", "application/json");
      request.setRequestHeader("Accept-Language", LANGUAGE);
      request.responseType = "json";
      request.upload.addEventListener("progress", (progress) => this.progress(progress));
      request.addEventListener("load", () => this.answer(request.response));
      request.addEventListener("error", () => this.fail());
      request.send(new FormData(this.form));
      this.busy(true);
    }

    /* Announce the file, send its parts, have it made of them; what is answered last. */
    async sendParts(file) {
      const form = new FormData(this.form);
      form.delete(this.file.name);
      form.set("size", file.size);
      form.set("file_name", file.name);
      const begun = await this.ask(this.form.dataset.uploadDirect, form);
      if (!begun?.address) return begun;
      try {
        for (let from = 0, number = 1; from < file.size; from += begun.bytes, number += 1) {
          await this.sendPart(file, begun, from, number);
        }
        return await again(() => this.ask(begun.finish));
      } catch (trouble) {
        await this.ask(begun.give_up).catch(() => null);
        throw trouble;
      }
    }

    sendPart(file, begun, from, number) {
      const part = file.slice(from, from + begun.bytes);
      const told = (progress) => this.progress({ loaded: from + progress.loaded, total: file.size });
      return again(async () => {
        const signed = await this.ask(begun.address, new URLSearchParams({ number }));
        return put(signed.address, part, told);
      });
    }

    /* What the portal answers as JSON, null where it says nothing. */
    async ask(address, body) {
      const token = this.form.elements.namedItem("csrfmiddlewaretoken").value;
      const headers = { "X-CSRFToken": token, Accept: "application/json", "Accept-Language": LANGUAGE };
      const response = await fetch(address, { method: "POST", headers, body });
      if (response.status >= 500) throw new Error(response.status);
      return response.status === 204 ? null : response.json();
    }

    busy(busy) {
      this.part("progress").hidden = !busy;
      this.form.querySelectorAll("button").forEach((button) => { button.disabled = busy; });
    }

    progress({ loaded, total }) {
      const percent = Math.floor((100 * loaded) / Math.max(total, 1));
      this.form.querySelector("progress").value = percent;
      this.part("bytes").textContent = `${size(loaded)} / ${size(total)}`;
      this.part("percent").textContent = `${percent} %`;
    }

    answer(response) {
      if (response?.location) {
        window.location.assign(response.location);
        return;
      }
      this.busy(false);
      if (response?.errors) this.showErrors(response.errors);
      else this.fail();
    }

    fail() {
      this.busy(false);
      this.say(this.part("errors"), [this.form.dataset.uploadFailed]);
    }

    showErrors(errors) {
      for (const [name, sentences] of Object.entries(errors)) {
        const field = this.form.elements.namedItem(name);
        if (field instanceof Element) this.mark(field, sentences);
        else this.say(this.part("errors"), sentences);
      }
    }

    mark(field, sentences) {
      const place = document.createElement("ul");
      place.id = `${field.id || field.name}_error`;
      place.className = "errorlist uploaded";
      place.setAttribute("role", "alert");
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", place.id);
      (field.closest("[data-dropzone]") || field).after(place);
      this.say(place, sentences);
    }

    say(place, sentences) {
      const item = place.matches("ul") ? "li" : "p";
      place.replaceChildren(...sentences.map((sentence) =>
        Object.assign(document.createElement(item), { textContent: sentence })));
    }

    clearErrors() {
      this.form.querySelectorAll(".errorlist").forEach((place) => place.remove());
      this.form.querySelectorAll("[aria-invalid]").forEach((field) => field.removeAttribute("aria-invalid"));
      this.part("errors").replaceChildren();
    }
  }

  document.querySelectorAll("form[data-upload]").forEach((form) => new Upload(form));
}
