/* Draws every [data-figure] element with Plotly.

   data-figure-source   id of the json_script element that holds {data, layout}; or
   data-figure-url      address that answers with the same JSON
   data-figure-program  address of plotly.min.js, which is loaded where the page has not done so
   data-figure-failed   the sentence to show instead if the chart cannot be drawn

   A colour written "var(--noisy)" anywhere in the figure is replaced by that custom property of portal.css,
   and again when the reader changes between light and dark. layout.height sets the height of the element;
   layout.meta.min_width keeps panels legible on a phone, where the figure then scrolls sideways.
   layout.meta.is_map: the reader may spread the colours by square root or logarithm, zoom in and drag, and take the
   lines away, by the [data-figure-tools] before the element; the numbers that are shown stay as they are.
   layout.meta.is_counts: the reader may spread the heights likewise, where one cell stands far above the others.
   layout.meta.is_switched: the traces carry meta, and the reader chooses of which kind they are shown.
   layout.meta.begins: the spread that is chosen at first.
   layout.meta.lies_up_to: in a place no wider than that, in pixels, names stand at the side and bars lie beside them.
   A page that draws at once includes plotly.min.js before this file. Figures that htmx brings in later are drawn as
   they arrive, those inside a closed <details> when it opens. */
"use strict";
{
  const VARIABLE = /^var\((--[\w-]+)\)$/;
  const drawn = new Map();
  let program;

  const signed = (size) => (number) => Math.sign(number) * size(Math.abs(number));
  const SPREADS = { root: signed(Math.sqrt), log: signed((size) => Math.log10(1 + size)) };
  const BACK = { root: signed((size) => size ** 2), log: signed((size) => 10 ** size - 1) };
  // In pixels, and in letters.
  const NARROW = 480, LONGEST_NAME = 18;
  // Of lying bars, in pixels: one alone, one beside others, what is between names, and what is around all.
  const ALONE = 15, BESIDE = 9, SLOT_GAP = 8, FRAME = 120;
  const SHARES = [0, 0.01, 0.1, 0.25, 0.5, 1];

  const configuration = (name, isMap) => ({
    responsive: true,
    displaylogo: false,
    locale: document.documentElement.lang.startsWith("zh") ? "zh-CN" : "en",
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

  function loaded(address) {
    if (window.Plotly) return null;
    program ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.addEventListener("load", done);
      script.addEventListener("error", () => failed(new Error(`${address} was not loaded`)));
      script.src = address;
      document.head.append(script);
    });
    return program;
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
    return { tickvals: numbers.map(spread), ticktext: numbers.map((number) => (number || 0).toLocaleString(document.documentElement.lang)) };
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

  /* Ticks at thirds of the axis, rounded to one digit; those below nothing that the axis reaches. */
  function tickedHeights(low, high, spread, back) {
    const above = [0, 1 / 3, 2 / 3, 1].map((share) => Number(back(share * spread(high)).toPrecision(1)));
    const numbers = [...new Set([...above.filter((number) => number > 0 && number <= -low).map((number) => -number), ...above])];
    return { tickmode: "array", tickvals: numbers.map(spread), ticktext: numbers.map((number) => number.toLocaleString(document.documentElement.lang)) };
  }

  /* Bars and lines at other heights, on both sides of nothing; the pointer and the marks still tell the counts. */
  function stretched({ data, layout }, { value, dataset: { told } }) {
    const spread = SPREADS[value];
    const [low, high] = reach(data);
    const stretch = (trace) => ({
      ...trace,
      y: trace.y.map(spread),
      customdata: trace.y,
      hovertemplate: trace.hovertemplate?.replaceAll("%{y", "%{customdata"),
      ...(trace.error_y ? { error_y: stretchedError(trace, spread) } : {}),
    });
    const { title, ...others } = layout.yaxis;
    const yaxis = { ...others, ...tickedHeights(low, high, spread, BACK[value]) };
    yaxis.title = { ...title, text: `${title.text} (${told})` };
    return { data: data.map(stretch), layout: { ...layout, yaxis } };
  }

  const halfWidths = ({ y, error_y }) => y.map((_, place) => error_y?.array?.[place] ?? error_y?.value ?? 0);

  const reach = (data) => {
    const ends = data.flatMap((trace) => halfWidths(trace).flatMap((half, place) => [trace.y[place] - half, trace.y[place] + half]));
    return [Math.min(0, ...ends), Math.max(1, ...ends)];
  };

  function stretchedError(trace, spread) {
    const { value, array: halves, ...looks } = trace.error_y;
    const widths = halfWidths(trace);
    const array = trace.y.map((at, place) => spread(at + widths[place]) - spread(at));
    const arrayminus = trace.y.map((at, place) => spread(at) - spread(at - widths[place]));
    return { ...looks, type: "data", symmetric: false, array, arrayminus };
  }

  const toolsOf = (element) => element.parentElement.querySelector("[data-figure-tools]");

  function switched(figure, tools) {
    if (!figure.layout.meta?.is_switched || !tools) return figure;
    const kind = tools.querySelector("[data-switched] select").value;
    return { ...figure, data: figure.data.map((trace) => ({ ...trace, visible: trace.meta === kind })) };
  }

  function asChosen(element, whole) {
    const tools = toolsOf(element);
    const figure = switched(whole, tools);
    if (figure.layout.meta?.is_counts && tools) {
      const chosen = tools.querySelector("[data-heights] select").selectedOptions[0];
      return chosen.value in SPREADS ? stretched(figure, chosen) : figure;
    }
    if (!figure.layout.meta?.is_map || !tools) return figure;
    const spread = SPREADS[tools.querySelector("[data-spread]").value];
    const shown = spread ? spreadOut(figure, spread) : figure;
    const plain = !tools.querySelector("[data-lines] input").checked;
    return plain ? { ...shown, layout: { ...shown.layout, shapes: [] } } : shown;
  }

  function offerTools(element, figure) {
    const tools = toolsOf(element);
    const { is_map: isMap, is_counts: isCounts, is_switched: isSwitched, begins } = figure.layout.meta || {};
    if (!tools || !(isMap || isCounts || isSwitched)) return;
    tools.hidden = false;
    tools.querySelector("[data-switched]").hidden = !isSwitched;
    tools.querySelector("[data-colours]").hidden = !isMap;
    tools.querySelector("[data-heights]").hidden = !isCounts;
    if (begins) tools.querySelector(isMap ? "[data-spread]" : "[data-heights] select").value = begins;
    tools.querySelector("[data-lines]").hidden = !isMap || !figure.layout.shapes?.length;
    tools.addEventListener("change", () => draw(element, figure));
  }

  const swapped = (text) => text?.replace(/%\{([xy])/g, (_, axis) => `%{${axis === "x" ? "y" : "x"}`);

  const lyingTrace = ({ x, y, error_y: errors, hovertemplate, ...trace }) => ({
    ...trace,
    x: y,
    y: x,
    ...(trace.type === "bar" ? { orientation: "h" } : {}),
    ...(errors ? { error_x: errors } : {}),
    hovertemplate: swapped(hovertemplate),
  });

  const lyingShape = ({ x0, x1, y0, y1, xref, yref, ...shape }) => ({
    ...shape,
    x0: y0,
    x1: y1,
    y0: x0,
    y1: x1,
    xref: yref?.replace("y", "x"),
    yref: xref?.replace("x", "y"),
  });

  /* A line for each name, the first on top; the element grows with them. */
  function lying(element, { data, layout }) {
    const traces = data.filter(({ visible = true }) => visible === true);
    const names = traces[0].x;
    const slot = SLOT_GAP + (traces.length > 1 ? BESIDE * traces.length : ALONE);
    element.style.height = `${FRAME + slot * names.length}px`;
    return {
      data: data.map(lyingTrace),
      layout: {
        ...layout,
        xaxis: { ...layout.yaxis, ticks: "outside", showgrid: true, showline: false, tickformat: "," },
        yaxis: { ...layout.xaxis, tickformat: "", showgrid: false, nticks: 0, dtick: 1, range: [names.length - 0.5, -0.5] },
        shapes: layout.shapes?.map(lyingShape),
      },
    };
  }

  const asItLies = (element, figure) =>
    element.clientWidth <= (figure.layout.meta?.lies_up_to ?? 0) ? lying(element, figure) : figure;

  /* An axis has aliases of its own where it counts to both sides without a sign. */
  const withAliases = (axis, labelalias) => ({ ...axis, labelalias: { ...axis?.labelalias, ...labelalias } });

  /* On a phone names are cut that would leave no room for what they name; the pointer tells them whole. */
  function withShortNames(element, { data, layout }) {
    if (element.clientWidth >= NARROW) return layout;
    const named = data.flatMap(({ x, y }) => [x, y].filter(Array.isArray)).flat();
    const long = named.filter((name) => typeof name === "string" && name.length > LONGEST_NAME);
    const labelalias = Object.fromEntries(long.map((name) => [name, `${name.slice(0, LONGEST_NAME - 1).trimEnd()}…`]));
    const axes = Object.keys({ xaxis: 0, yaxis: 0, ...layout }).filter((key) => /^[xy]axis/.test(key));
    return { ...layout, ...Object.fromEntries(axes.map((axis) => [axis, withAliases(layout[axis], labelalias)])) };
  }

  function draw(element, figure) {
    const chosen = asItLies(element, asChosen(element, figure));
    const { data, layout } = coloured({ ...chosen, layout: withShortNames(element, chosen) }, getComputedStyle(document.documentElement));
    const name = (document.getElementById(`${element.id}-title`)?.textContent || element.id).trim();
    return Plotly.react(element, data, layout, configuration(name, Boolean(layout.meta?.is_map)));
  }

  async function show(element) {
    if (drawn.has(element)) return;
    drawn.set(element, null);
    try {
      const [figure] = await Promise.all([read(element), loaded(element.dataset.figureProgram)]);
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

  // What is folded away has no width to be drawn in; it is drawn when its reader unfolds it.
  const isFolded = (element) => element.closest("details:not([open])");
  const showAll = () => [...document.querySelectorAll("[data-figure]")].filter((element) => !isFolded(element)).forEach(show);
  showAll();
  document.addEventListener("htmx:afterSettle", showAll);
  document.addEventListener("portal:figures", showAll);
  document.addEventListener("toggle", showAll, true);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.addEventListener("portal:tab", () => window.dispatchEvent(new Event("resize")));
}
