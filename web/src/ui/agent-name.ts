import { createContext, useContext } from "react";

/** Says what an agent is called on the page, by its name. */
export const AgentNames = createContext<(name: string) => string>((name) => name);

export function useAgentName(): (name: string) => string {
  return useContext(AgentNames);
}
