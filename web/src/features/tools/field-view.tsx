import { Plus, X } from "lucide-react";
import { useId } from "react";
import { blank, type FormField, type FormValue, opened } from "@/features/tools/schema-form";
import { isRecord } from "@/protocol/shapes";
import { useText } from "@/text/text";
import { Button, IconButton } from "@/ui/button";

export interface FieldViewProps {
  field: FormField;
  /** The label, if the name alone is not clear. */
  label?: string | undefined;
  value: FormValue | undefined;
  /** The path of the field: `boards.0.width`. */
  path: string;
  faults: readonly string[];
  onChange: (value: FormValue | undefined) => void;
}

/** A field of a form, including nested fields. */
export function FieldView(props: FieldViewProps) {
  if (props.field.shape === "object") return <ObjectField {...props} />;
  if (props.field.shape === "list") return <ListField {...props} />;
  return <PlainField {...props} />;
}

function FieldName({ field, label }: Pick<FieldViewProps, "field" | "label">) {
  const t = useText();
  return (
    <>
      <span className="font-mono">{label ?? field.name}</span>
      {field.isRequired ? null : <span className="text-faint">{t.optional}</span>}
    </>
  );
}

function Description({ field }: { field: FormField }) {
  return field.description ? <p className="mt-0.5 text-[12px] text-faint">{field.description}</p> : null;
}

function PlainField({ field, label, value, path, faults, onChange }: FieldViewProps) {
  const t = useText();
  const id = useId();
  const isFaulty = faults.includes(path);
  const look = `w-full rounded-lg border bg-surface px-2.5 text-[13px] ${isFaulty ? "border-danger" : "border-line focus:border-line-strong"}`;
  const common = {
    id,
    value: typeof value === "string" ? value : "",
    "aria-invalid": isFaulty,
    "aria-required": field.isRequired,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  return (
    <div>
      <label htmlFor={id} className="mb-1 flex items-baseline gap-2 text-[12.5px]">
        <FieldName field={field} label={label} />
      </label>
      {field.shape === "choice" || field.shape === "boolean" ? (
        <select {...common} className={`${look} h-8`}>
          <option value="" />
          {(field.shape === "boolean" ? ["true", "false"] : field.choices.map(String)).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : field.shape === "json" ? (
        <textarea {...common} rows={2} placeholder="JSON" className={`${look} py-1.5 font-mono`} />
      ) : (
        <input {...common} inputMode={field.shape === "text" ? "text" : "decimal"} className={`${look} h-8`} />
      )}
      {isFaulty ? <p className="mt-0.5 text-[12px] text-danger">{t.fieldFaults[field.shape]}</p> : null}
      <Description field={field} />
    </div>
  );
}

/** The frame of an object or a list; optional ones can be added and removed. */
function Group(props: FieldViewProps & { onAdd: () => void; children: React.ReactNode }) {
  const t = useText();
  const { field, label, value, onChange } = props;
  const name = label ?? field.name;
  return (
    <fieldset className="min-w-0 rounded-lg border border-line px-3 pb-3">
      <legend className="flex items-center gap-2 px-1 text-[12.5px]">
        <FieldName field={field} label={label} />
        {value !== undefined && !field.isRequired ? (
          <IconButton label={t.removeItem(name)} className="size-6" onClick={() => onChange(undefined)}>
            <X size={13} />
          </IconButton>
        ) : null}
      </legend>
      <Description field={field} />
      <div className="mt-1 space-y-3">{props.children}</div>
      {value === undefined || field.shape === "list" ? (
        <Button className="mt-2" onClick={props.onAdd} aria-label={t.addTo(name)}>
          <Plus size={13} aria-hidden="true" /> {t.add}
        </Button>
      ) : null}
    </fieldset>
  );
}

function ObjectField(props: FieldViewProps) {
  const { field, value, path, faults, onChange } = props;
  const values = isRecord(value) ? (value as Record<string, FormValue | undefined>) : {};
  return (
    <Group {...props} onAdd={() => onChange(opened(field))}>
      {value === undefined
        ? null
        : field.fields.map((inner) => (
            <FieldView
              key={inner.name}
              field={inner}
              value={inner.name in values ? values[inner.name] : inner.initial}
              path={`${path}.${inner.name}`}
              faults={faults}
              onChange={(changed) => onChange({ ...values, [inner.name]: changed })}
            />
          ))}
    </Group>
  );
}

function ListField(props: FieldViewProps) {
  const t = useText();
  const { field, label, value, path, faults, onChange } = props;
  const { item } = field;
  if (item === null) return null;
  const items = Array.isArray(value) ? value : [];
  const add = () => onChange([...items, blank({ ...item, isRequired: true }) ?? ""]);
  return (
    <Group {...props} onAdd={add}>
      {items.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item is identified by its position
        <div key={index} className="flex items-start gap-1">
          <div className="min-w-0 flex-1">
            <FieldView
              field={item}
              label={`${label ?? field.name} ${index + 1}`}
              value={one}
              path={`${path}.${index}`}
              faults={faults}
              onChange={(changed) => onChange(items.with(index, changed ?? ""))}
            />
          </div>
          <IconButton
            label={t.removeItem(`${label ?? field.name} ${index + 1}`)}
            className="size-7"
            onClick={() => onChange(items.filter((_, place) => place !== index))}
          >
            <X size={13} />
          </IconButton>
        </div>
      ))}
    </Group>
  );
}
