/* Draws every [data-figure] element with Plotly.

   data-figure-source   id of the json_script element that holds {data, layout}; or
   data-figure-url      address that answers with the same JSON
   data-figure-failed   the sentence to show instead if the chart cannot be drawn

   A colour written "var(--noisy)" anywhere in the figure is replaced by that custom property of portal.css,
   and again when the reader changes between light and dark. layout.height sets the height of the element;
   layout.meta.min_width keeps panels legible on a phone, where the figure then scrolls sideways.
   layout.meta.is_map: the reader may spread the colours by square root or logarithm, zoom in and drag, and take the
   lines away, by the [data-figure-tools] before the element; the numbers that are shown stay as they are.
   Include plotly.min.js before this file. Figures that htmx brings in later are drawn as they arrive. */
"use strict";
{
  const VARIABLE = /^var\((--[\w-]+)\)$/;
  const drawn = new Map();

  const signed = (size) => (number) => Math.sign(number) * size(Math.abs(number));
  const SPREADS = { root: signed(Math.sqrt), log: signed((size) => Math.log10(1 + size)) };
  const SHARES = [0, 0.01, 0.1, 0.25, 0.5, 1];

  const configuration = (name, isMap) => ({
    responsive: true,
    displaylogo: false,
    modeBarButtons: [...(isMap ? [["zoom2d", "pan2d", "resetScale2d"]] : []), [
      { name: "PNG", title: "PNG", icon: Plotly.Icons.camera, click: (plot) => download(plot, name, "png") },
      { name: "SVG", title: "SVG", icon: Plotly.Icons.disk, click: (plot) => download(plot, name, "svg") },
    ]],
  });

  function download(plot, name, format) {
    const { width, height } = plot.getBoundingClientRect();
    Plotly.downloadImage(plot, { format, filename: name, width, height, scale: format === "png" ? 2 : 1 });
  }

  function coloured(value, style) {
    if (typeof value === "string") {
      const variable = VARIABLE.exec(value);
      return variable ? style.getPropertyValue(variable[1]).trim() : value;
    }
    if (Array.isArray(value)) return typeof value.at(-1) === "number" ? value : value.map((item) => coloured(item, style));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
  }

  async function read(element) {
    const { figureSource, figureUrl } = element.dataset;
    if (figureSource) return JSON.parse(document.getElementById(figureSource).textContent);
    const answer = await fetch(figureUrl, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`${figureUrl} answered ${answer.status}`);
    return answer.json();
  }

  /* Ticks at shares of the largest number, rounded to one digit, on both sides where the scale has two. */
  function ticks({ cmin, cmax }, spread) {
    const round = (number) => Number(number.toPrecision(1));
    const above = SHARES.map((share) => round(share * cmax));
    const numbers = [...new Set(cmin < 0 ? [...above.map((number) => -number), ...above] : above)];
    return { tickvals: numbers.map(spread), ticktext: numbers.map((number) => (number || 0).toLocaleString("en")) };
  }

  /* The same maps with other colours; the pointer still tells the counts. */
  function spreadOut({ data, layout }, spread) {
    const { cmin, cmax, colorbar } = layout.coloraxis;
    const respread = (trace) => ({
      ...trace,
      z: trace.z.map((row) => row.map(spread)),
      customdata: trace.z,
      hovertemplate: trace.hovertemplate.replaceAll("%{z", "%{customdata"),
    });
    const axis = { ...layout.coloraxis, cmin: spread(cmin), cmax: spread(cmax) };
    axis.colorbar = { ...colorbar, ...ticks({ cmin, cmax }, spread) };
    return { data: data.map(respread), layout: { ...layout, coloraxis: axis } };
  }

  const toolsOf = (element) => element.parentElement.querySelector("[data-figure-tools]");

  function asChosen(element, figure) {
    const tools = toolsOf(element);
    if (!figure.layout.meta?.is_map || !tools) return figure;
    const spread = SPREADS[tools.querySelector("[data-spread]").value];
    const shown = spread ? spreadOut(figure, spread) : figure;
    const plain = !tools.querySelector("[data-lines] input").checked;
    return plain ? { ...shown, layout: { ...shown.layout, shapes: [] } } : shown;
  }

  function offerTools(element, figure) {
    const tools = toolsOf(element);
    if (!figure.layout.meta?.is_map || !tools) return;
    tools.hidden = false;
    tools.querySelector("[data-lines]").hidden = !figure.layout.shapes?.length;
    tools.addEventListener("change", () => draw(element, figure));
  }

  function draw(element, figure) {
    const { data, layout } = coloured(asChosen(element, figure), getComputedStyle(document.documentElement));
    const name = (document.getElementById(`${element.id}-title`)?.textContent || element.id).trim();
    return Plotly.react(element, data, layout, configuration(name, Boolean(layout.meta?.is_map)));
  }

  async function show(element) {
    if (drawn.has(element)) return;
    drawn.set(element, null);
    try {
      const figure = await read(element);
      if (figure.layout.height) element.style.height = `${figure.layout.height}px`;
      if (figure.layout.meta?.min_width) element.style.minWidth = `${figure.layout.meta.min_width}px`;
      element.classList.remove("waiting");
      offerTools(element, figure);
      await draw(element, figure);
      drawn.set(element, figure);
    } catch (reason) {
      console.warn(reason);
      fail(element);
    }
  }

  function fail(element) {
    const sentence = document.createElement("p");
    sentence.className = "plot-failed";
    sentence.textContent = element.dataset.figureFailed;
    drawn.delete(element);
    element.replaceWith(sentence);
  }

  function redraw() {
    for (const [element, figure] of drawn) {
      if (!element.isConnected) drawn.delete(element);
      else if (figure) draw(element, figure);
    }
  }

  const showAll = () => document.querySelectorAll("[data-figure]").forEach(show);
  showAll();
  document.addEventListener("htmx:afterSettle", showAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.addEventListener("portal:tab", () => window.dispatchEvent(new Event("resize")));
}
