/** The admin token, kept for this tab only: it grants more than chatting. */

const TOKEN_KEY = "dovetail.admin-token";

export function adminToken(): string {
  return globalThis.sessionStorage?.getItem(TOKEN_KEY) ?? "";
}

export function keepAdminToken(token: string): void {
  if (token === "") sessionStorage.removeItem(TOKEN_KEY);
  else sessionStorage.setItem(TOKEN_KEY, token);
}

/** The header that an admin sends; none if there is no token. */
export function adminHeaders(): Record<string, string> {
  const token = adminToken();
  return token === "" ? {} : { "x-admin-token": token };
}

let isReachingAll = false;

/** Whether runs of other owners are meant, too, when one is opened or cancelled. */
export function reachAll(isOn: boolean): void {
  isReachingAll = isOn;
}

/** What is added to the address of a run. */
export function ownerQuery(): Record<string, string> {
  return isReachingAll ? { owner: "*" } : {};
}
