/** The prompts of the library, loaded when they are wanted. */

import type { PromptInfo } from "@/protocol/prompt";
import { Store } from "@/ui/store";

export interface PromptBackend {
  list(): Promise<{ prompts: PromptInfo[] }>;
  render(name: string, values: Record<string, string>): Promise<string>;
}

export class PromptStore extends Store<{ prompts: readonly PromptInfo[] }> {
  constructor(private readonly backend: PromptBackend) {
    super({ prompts: [] });
  }

  /** Loads the prompts again, which may have changed; those that are known stay if this fails. */
  readonly refresh = async (): Promise<void> => {
    const found = await this.backend.list().catch(() => null);
    if (found !== null) this.change({ prompts: found.prompts });
  };

  /** The text of a prompt with these values. */
  render(name: string, values: Record<string, string>): Promise<string> {
    return this.backend.render(name, values);
  }
}
