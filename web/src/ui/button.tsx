import type { ButtonHTMLAttributes, ReactNode } from "react";

type Look = "primary" | "plain" | "outline" | "danger";

const LOOKS: Record<Look, string> = {
  primary: "bg-accent text-accent-ink hover:opacity-90",
  plain: "text-soft hover:bg-raised hover:text-ink",
  outline: "border border-line bg-surface text-ink hover:border-line-strong",
  danger: "border border-line bg-surface text-danger hover:border-danger",
};

/** The classes of a button, also for a link that looks like one. */
export function buttonLook(look: Look, more = ""): string {
  return `inline-flex h-8 items-center justify-center gap-1.5 rounded-lg px-3 text-[13px] font-medium transition-colors disabled:opacity-40 ${LOOKS[look]} ${more}`;
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  children: ReactNode;
}

export function Button({ look = "outline", className = "", ...rest }: ButtonProps) {
  return <button type="button" className={buttonLook(look, className)} {...rest} />;
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** What it does, for screen readers and the tooltip. */
  label: string;
  children: ReactNode;
}

export function IconButton({ label, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-soft transition-colors hover:bg-raised hover:text-ink disabled:opacity-35 disabled:hover:bg-transparent ${className}`}
      {...rest}
    />
  );
}
