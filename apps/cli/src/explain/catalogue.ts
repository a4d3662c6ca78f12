import { defined } from '@cobbler/agent/values';
import { errorsPage } from './errors-page.ts';

/** The explanation of an error code. */
export interface Explanation {
  readonly code: string;
  /** The kinds of errors with this code; absent for codes that occur only in HTTP requests or on the command line. */
  readonly kinds?: readonly string[];
  /** HTTP statuses that the server returns for it. */
  readonly status?: readonly number[];
  /** The cause. */
  readonly what: string;
  /** The solution. */
  readonly todo: string;
  /** The page with more information, relative to the root of the project. */
  readonly see?: string;
}

/** A group of related errors. */
export interface Area {
  readonly title: string;
  readonly entries: readonly Explanation[];
}

/**
 * Every error that Cobbler raises, in the order in which users usually encounter them, as docs/errors.md explains it.
 * Tests compare it with the sources and with the text of the page.
 */
export const catalogue: readonly Area[] = parts(errorsPage, '## ').map((area) => ({
  title: area.slice(0, area.indexOf('\n')),
  entries: parts(area, '### ').map(explanation),
}));

/** All codes. */
export const codes: readonly string[] = catalogue.flatMap(({ entries }) => entries.map(({ code }) => code));

/** Returns the explanation of a code. */
export function explanationOf(code: string): Explanation | undefined {
  return catalogue.flatMap(({ entries }) => entries).find((entry) => entry.code === code);
}

function parts(text: string, heading: '## ' | '### '): string[] {
  return text.split(`\n${heading}`).slice(1);
}

/** Reads an entry: its code, kinds, statuses and cause, then the solution, which can end with a link to a page. */
function explanation(entry: string): Explanation {
  const [code = '', cause = '', solution = ''] = entry.trim().split('\n\n');
  const [, about = '', what = ''] = /^((?:(?:`[a-z_]+`|HTTP \d+)(?:, |\. ))*)(.*)$/s.exec(cause) ?? [];
  const kinds = Array.from(about.matchAll(/`(.+?)`/g), ([, kind = '']) => kind);
  const status = Array.from(about.matchAll(/HTTP (\d+)/g), ([, number]) => Number(number));
  const [, todo = '', page] = /^(.*?)(?: See \[[^\]]+\]\((.+)\)\.)?$/s.exec(solution) ?? [];
  return {
    code,
    ...(kinds.length > 0 && { kinds }),
    ...(status.length > 0 && { status }),
    what,
    todo,
    ...defined({ see: page && `docs/${page}` }),
  };
}
