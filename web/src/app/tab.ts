/** This tab's name for the server: it stays across reloads, and a copied tab gets its own. */

const KEY = "dovetail.tab";

export function tabId(): string {
  const stored = sessionStorage.getItem(KEY);
  const isReload = performance
    .getEntriesByType("navigation")
    .some((entry) => (entry as PerformanceNavigationTiming).type === "reload");
  // A duplicated tab inherits the storage of the first one; only a reload may go on under the same name.
  const id = stored !== null && isReload ? stored : crypto.randomUUID();
  sessionStorage.setItem(KEY, id);
  return id;
}
