import { type ReactNode, useId } from "react";

export const FIELD_LOOK =
  "w-full rounded-lg border border-line bg-surface px-2.5 text-[13px] placeholder:text-faint focus:border-line-strong aria-invalid:border-danger";

interface FieldProps {
  name: string;
  /** A word after the name, such as “optional”. */
  note?: string | undefined;
  hint?: ReactNode;
  error?: string | null | undefined;
  /** Draws the control with its id and the id of what describes it. */
  children: (id: string, describedBy: string | undefined) => ReactNode;
}

/** A labelled control with a hint, or what is wrong with its value. */
export function Field({ name, note, hint, error, children }: FieldProps) {
  const id = useId();
  const below = error || hint;
  return (
    <div className="space-y-1 text-[13px]">
      <label htmlFor={id} className="block font-medium">
        {name} {note ? <span className="font-normal text-faint">({note})</span> : null}
      </label>
      {children(id, below ? `${id}-below` : undefined)}
      {below ? (
        <p id={`${id}-below`} role={error ? "alert" : undefined} className={error ? "text-danger" : "text-soft"}>
          {below}
        </p>
      ) : null}
    </div>
  );
}

type About = Omit<FieldProps, "children">;

interface TextFieldProps extends About {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  /** More than one line if set. */
  rows?: number;
  type?: "text" | "password" | "number" | "search" | "date";
  isCode?: boolean;
}

export function TextField({ value, onChange, placeholder, rows, type = "text", isCode, ...about }: TextFieldProps) {
  const look = isCode ? "font-mono text-[12.5px]" : "";
  return (
    <Field {...about}>
      {(id, describedBy) => {
        const common = {
          id,
          value,
          placeholder,
          "aria-describedby": describedBy,
          "aria-invalid": about.error ? true : undefined,
          spellCheck: !isCode,
        };
        return rows === undefined ? (
          <input
            {...common}
            type={type}
            autoComplete={type === "password" ? "off" : undefined}
            onChange={(event) => onChange(event.target.value)}
            className={`${FIELD_LOOK} h-8 ${look}`}
          />
        ) : (
          <textarea
            {...common}
            rows={rows}
            onChange={(event) => onChange(event.target.value)}
            className={`${FIELD_LOOK} resize-y py-1.5 leading-[1.55] ${look}`}
          />
        );
      }}
    </Field>
  );
}

interface SelectFieldProps extends About {
  value: string;
  choices: readonly { value: string; name: string }[];
  onChange: (value: string) => void;
}

export function SelectField({ value, choices, onChange, ...about }: SelectFieldProps) {
  return (
    <Field {...about}>
      {(id, describedBy) => (
        <select
          id={id}
          value={value}
          aria-describedby={describedBy}
          onChange={(event) => onChange(event.target.value)}
          className={`${FIELD_LOOK} h-8`}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface SwitchProps {
  name: string;
  hint?: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  disabled?: boolean;
}

/** Something that is on or off, at once. */
export function Switch({ name, hint, isOn, onChange, disabled }: SwitchProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-3 text-[13px]">
      <div className="min-w-0 flex-1">
        <label htmlFor={id} className="block font-medium">
          {name}
        </label>
        {hint ? (
          <p id={`${id}-below`} className="text-soft">
            {hint}
          </p>
        ) : null}
      </div>
      <button
        id={id}
        type="button"
        role="switch"
        aria-checked={isOn}
        aria-describedby={hint ? `${id}-below` : undefined}
        disabled={disabled}
        onClick={() => onChange(!isOn)}
        className="relative mt-0.5 h-5 w-9 shrink-0 rounded-full bg-line-strong transition-colors aria-checked:bg-accent disabled:opacity-40"
      >
        <span
          className={`absolute top-0.5 left-0.5 size-4 rounded-full bg-surface transition-transform ${isOn ? "translate-x-4" : ""}`}
        />
      </button>
    </div>
  );
}
