import type { Environment, Output } from './io.ts';

/** The capabilities of an output. */
export interface Screen {
  readonly tty: boolean;
  readonly color: boolean;
  /** True if symbols beyond ASCII can be shown. */
  readonly unicode: boolean;
  /** True if a line can be erased and redrawn. */
  readonly redraw: boolean;
  columns(): number;
}

const minColumns = 20;
const defaultColumns = 80;

/** Returns the capabilities of an output, from the terminal and NO_COLOR, FORCE_COLOR, TERM, COLUMNS and LANG. */
export function screenFor(output: Output, env: Environment, platform: string = process.platform): Screen {
  const dumb = env['TERM'] === 'dumb';
  return {
    tty: output.tty,
    color: wantsColor(output.tty && !dumb, env),
    unicode: platform === 'win32' || isUtf8(env),
    redraw: output.tty && !dumb,
    columns: () => Math.max(minColumns, output.columns() ?? columnsFrom(env) ?? defaultColumns),
  };
}

function wantsColor(possible: boolean, env: Environment): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'];
  if (forced === undefined || forced === '') return possible;
  return forced !== '0' && forced !== 'false';
}

function columnsFrom(env: Environment): number | undefined {
  const columns = Number(env['COLUMNS']);
  return Number.isInteger(columns) && columns > 0 ? columns : undefined;
}

/** True for a UTF-8 locale. As in POSIX, the first of these variables that is set and not empty decides; else it is C. */
function isUtf8(env: Environment): boolean {
  return /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '');
}
