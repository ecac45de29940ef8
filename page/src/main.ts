import "uplot/dist/uPlot.min.css";
import "./page.css";
import { mount } from "svelte";
import App from "./App.svelte";
import Compare from "./Compare.svelte";
import { COMPARE, decoded, LIST, type Comparison, type Page, type RunList } from "./data";
import { Live } from "./live.svelte";
import Runs from "./Runs.svelte";

const place = document.getElementById("page")!;

// Whatever fails, the verdict as text is on the page.
function plainly(error: unknown) {
  const text = document.querySelector("noscript")?.textContent ?? "";
  const holder = new DOMParser().parseFromString(text, "text/html").getElementById("plain");
  const said = document.createElement("p");
  said.className = "failed";
  said.textContent = `This page could not be drawn (${error}); the report as text:`;
  const pre = document.createElement("pre");
  pre.className = "failed";
  pre.textContent = holder?.textContent || "no report is in this file";
  place.replaceChildren(said, pre);
}

decoded(document.getElementById("data")!.textContent ?? "")
  .then((page) => page.schema === LIST
    ? mount(Runs, { target: place, props: { list: page as RunList } })
    : page.schema === COMPARE
    ? mount(Compare, { target: place, props: { told: page as Comparison } })
    : mount(App, { target: place, props: { live: new Live(page as Page) } }))
  .then(() => document.documentElement.setAttribute("data-ready", ""))
  .catch(plainly);
