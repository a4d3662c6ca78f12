import { AgentError } from './errors.ts';

/**
 * Returns numeric settings with defaults filled in. `name` is the option that contains them, for error messages.
 * @throws AgentError `invalid` for a setting that is not a non-negative number.
 */
export function withDefaults<Name extends string>(
  name: string,
  defaults: Readonly<Record<Name, number>>,
  given: Partial<Readonly<Record<Name, number>>>,
): Record<Name, number> {
  const settings: Record<Name, number> = { ...defaults };
  for (const key of Object.keys(defaults) as Name[]) {
    const value: unknown = given[key];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !(value >= 0)) {
      const message = `${name}.${key} must be a non-negative number; it is ${String(value)}.`;
      throw new AgentError({ kind: 'invalid', code: 'bad_option', message });
    }
    settings[key] = value;
  }
  return settings;
}
