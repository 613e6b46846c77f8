/** Whether a site lets this page show it in a frame. */

import { record } from "@/protocol/shapes";
import { getJson } from "@/transport/http";

const LIMIT = 8000;

/** False if the site refuses; true if it does not, or if the server cannot know. */
export async function canBeFramed(url: string): Promise<boolean> {
  // Browsers do not load insecure pages into secure ones.
  if (location.protocol === "https:" && url.startsWith("http:")) return false;
  const query = new URLSearchParams({ url, origin: location.origin });
  try {
    const found = await getJson(`/api/v1/frames?${query}`, AbortSignal.timeout(LIMIT));
    return record(found)["verdict"] !== "refused";
  } catch {
    return true;
  }
}
