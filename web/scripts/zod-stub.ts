/**
 * Takes the place of `zod` in the page, where it would be an eighth of the first load. The `ai` package describes
 * requests to models with it, which the page never sends; what the page reads is checked in `src/protocol`.
 */

type Anything = ((...values: unknown[]) => Anything) & { [name: string]: Anything };

/** A schema that accepts every description and checks nothing. */
const nothing: Anything = new Proxy(() => undefined, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => "" : nothing),
  apply: () => nothing,
  construct: () => nothing,
}) as unknown as Anything;

export const any = nothing;
export const array = nothing;
export const boolean = nothing;
export const catchall = nothing;
export const config = nothing;
export const custom = nothing;
export const discriminatedUnion = nothing;
export const extend = nothing;
export const globalRegistry = nothing;
export const int = nothing;
export const json = nothing;
export const lazy = nothing;
export const length = nothing;
export const literal = nothing;
export const looseObject = nothing;
export const maxLength = nothing;
export const maximum = nothing;
export const minLength = nothing;
export const minimum = nothing;
export const never = nothing;
export const nonnegative = nothing;
export const nullable = nothing;
export const nullish = nothing;
export const number = nothing;
export const object = nothing;
export const optional = nothing;
export const pipe = nothing;
export const positive = nothing;
export const record = nothing;
export const refine = nothing;
export const safeParseAsync = nothing;
export const startsWith = nothing;
export const string = nothing;
export const toJSONSchema = nothing;
export const transform = nothing;
export const union = nothing;
export const unknown = nothing;
export const url = nothing;
export const z = nothing;
export { nothing as enum, nothing as instanceof, nothing as null, nothing as undefined };
export default nothing;
