/** The id of this tab: it survives reloads, and a duplicated tab gets its own. */

const KEY = "dovetail.tab";

export function tabId(): string {
  const stored = sessionStorage.getItem(KEY);
  const isReload = performance
    .getEntriesByType("navigation")
    .some((entry) => (entry as PerformanceNavigationTiming).type === "reload");
  // A duplicated tab inherits the storage of the first one; only a reload may keep the id.
  const id = stored !== null && isReload ? stored : crypto.randomUUID();
  sessionStorage.setItem(KEY, id);
  return id;
}
