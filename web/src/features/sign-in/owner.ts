/** The signed-in user as far as the page knows; the server alone decides. */

import { signedOut } from "@/transport/http";
import { signIn, signOut } from "@/transport/sign-in";
import { Store } from "@/ui/store";

const NAME_KEY = "dovetail.owner";

export class OwnerStore extends Store<{ isSignedOut: boolean; name: string | null }> {
  constructor() {
    super({ isSignedOut: false, name: localStorage.getItem(NAME_KEY) });
    signedOut.addEventListener("signed-out", () => this.change({ isSignedOut: true }));
  }

  /** Signs in and reloads the page, so that everything is loaded as the owner sees it. */
  async enter(key: string): Promise<void> {
    localStorage.setItem(NAME_KEY, await signIn(key));
    location.reload();
  }

  async leave(): Promise<void> {
    await signOut();
    localStorage.removeItem(NAME_KEY);
    location.reload();
  }
}
