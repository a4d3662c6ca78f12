import { read, text as string } from '../../values/input.ts';
import { isObject } from '../../values/json.ts';

/** A Markdown file with settings at its start. */
export interface FrontMatter {
  /** Every scalar is a string, as it is written. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** Why the settings cannot be used, as a clause without a final period. Then `fields` is empty. */
  readonly problem?: string;
}

/** Maximum length of the settings in characters. */
const maxSettings = 32_768;

/** Separates the YAML settings between two lines `---` from the text below them. A file without settings is only text. */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const whole = read(text, string, 'text')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
  const [all = '', settings] = /^---[ \t]*\n([\s\S]*?)(?<=\n)---[ \t]*(?:\n|$)/.exec(whole) ?? [];
  const body = whole.slice(all.length).trim();
  if (settings === undefined) return { fields: {}, body };
  if (settings.length > maxSettings) return { fields: {}, body, problem: 'its settings are too long' };
  const { parseDocument } = await import('yaml');
  // Hints such as `[file] [line]` and times such as `*/5 * * * *` are written without quotes, which is not YAML.
  const quoted = settings.replace(
    /^(argument-hint:[ \t]*(?=\[)|cron:[ \t]*(?=\*))(.*)$/m,
    (_, name, value) => name + JSON.stringify(value.trim()),
  );
  try {
    const document = parseDocument(quoted, { schema: 'failsafe', uniqueKeys: true });
    const wrong = document.errors[0]?.message.split('\n')[0]?.replace(/ at line.*/, '');
    const fields: unknown = wrong === undefined ? (document.toJS({ maxAliasCount: 0 }) ?? {}) : undefined;
    if (isObject(fields)) return { fields, body };
    return {
      fields: {},
      body,
      problem: `its YAML is invalid: ${oneLine(wrong) ?? 'it contains no settings'}`,
    };
  } catch {
    return { fields: {}, body, problem: 'its YAML is invalid: it is nested too deeply or contains an alias' };
  }
}

/** Returns a setting as one line without control and invisible characters; undefined if it is not text. */
export function oneLine(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const line = value
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  return line === '' ? undefined : line;
}
