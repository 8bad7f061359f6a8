/* Tabs made of a list of links to sections of the same page: <ul data-tabs><li><a href="#by-cell">.

   Without this file every section is shown, one under the other, and the links jump to it. With it, one
   section is shown at a time, arrow keys move between the tabs, and the address keeps the choice.
   Sends "portal:tab" when another section appears, so that figures take their width. */
"use strict";
{
  const sectionOf = (tab) => document.getElementById(tab.hash.slice(1));

  function choose(tabs, chosen) {
    for (const tab of tabs) {
      const selected = tab === chosen;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      sectionOf(tab).hidden = !selected;
    }
    document.dispatchEvent(new Event("portal:tab"));
  }

  function move(tabs, tab, step) {
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    choose(tabs, next);
    next.focus();
  }

  function equip(tab, tabs) {
    tab.setAttribute("role", "tab");
    tab.id ||= `tab-${tab.hash.slice(1)}`;
    tab.parentElement.setAttribute("role", "presentation");
    sectionOf(tab).setAttribute("role", "tabpanel");
    sectionOf(tab).setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", tab.hash);
      choose(tabs, tab);
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) move(tabs, tab, step);
    });
  }

  for (const list of document.querySelectorAll("[data-tabs]")) {
    const tabs = [...list.querySelectorAll("a[href^='#']")].filter(sectionOf);
    list.setAttribute("role", "tablist");
    tabs.forEach((tab) => equip(tab, tabs));
    if (tabs.length) choose(tabs, tabs.find((tab) => tab.hash === location.hash) || tabs[0]);
  }
}
