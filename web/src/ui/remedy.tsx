import { createContext, useContext } from "react";
import { useText } from "@/text/text";
import { buttonLook } from "@/ui/button";

/** Where an operator repairs what failed: the keys of providers, or the models. */
export type Remedy = "keys" | "models";

interface RemedyPlaces {
  addressOf: (remedy: Remedy) => string;
  /** Whether the reader of the page may well not be the operator. */
  needsOperator: () => boolean;
}

/** The places in the page that repair something; a page without them shows no links. */
export const Remedies = createContext<RemedyPlaces | null>(null);

/** What repairs an error, if the server says it. */
export function remedyOf(error: unknown): Remedy | null {
  const named = error instanceof Error && "remedy" in error ? error.remedy : null;
  return named === "keys" || named === "models" ? named : null;
}

/** Leads to the place that repairs an error, and says who can do it. */
export function RemedyLink({ remedy }: { remedy: Remedy }) {
  const t = useText();
  const places = useContext(Remedies);
  if (places === null) return null;
  return (
    <>
      <a href={places.addressOf(remedy)} className={buttonLook("outline")}>
        {t.remedies[remedy]}
      </a>
      {places.needsOperator() ? <span className="self-center text-[13px] text-soft">{t.onlyOperator}</span> : null}
    </>
  );
}
