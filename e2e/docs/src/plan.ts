// How each command of the documents runs. A command without a plan runs as written and must exit with 0.
import type { Command } from './commands.ts';

/**
 * `run`: until it ends. `server`: until it is ready; it then serves the rest of the page and is stopped by Ctrl-C.
 * `terminal`: in a terminal, with typed keys. `speak`: it receives the first message of its protocol and responds.
 * `follow`: until it has printed the expected text, then Ctrl-C.
 */
export type Way = 'run' | 'server' | 'terminal' | 'speak' | 'follow';

/** Values for placeholders, by their words. */
export type Fill = readonly (readonly [words: string, value: string])[];

/** Keys to type in a terminal, each after a text appears. */
export type Keys = readonly (readonly [seen: RegExp, typed: string])[];

/** Rules for running the matching commands. */
export interface Plan {
  /** The page to which it applies. Default: all pages. */
  readonly page?: string;
  /** The command as written in the page, or a pattern. */
  readonly command: string | RegExp;
  /** Default: `run`. */
  readonly way?: Way;
  readonly fill?: Fill;
  /** Runs in the same shell before the command, to prepare what the reader has by then. */
  readonly before?: string;
  /** Runs in the same shell after the command, and must succeed: it checks what the page promises. */
  readonly after?: string;
  /** Expected output; for a server, the output that shows it is ready. */
  readonly prints?: RegExp;
  /** Output that must not appear. */
  readonly never?: RegExp;
  /** Expected exit codes. Default: 0; after Ctrl-C also 130. */
  readonly codes?: readonly number[];
  /** True for a server that later commands of the page need in addition to their own. */
  readonly stays?: true;
  readonly keys?: Keys;
  /** True if the page promises that no key is needed: the command gets none. */
  readonly keyless?: true;
  /** True for a slow command with the same result on every page: it runs only on the first one. */
  readonly once?: true;
  /** Why it cannot run here, or that it is a suite that runs separately. */
  readonly apart?: string;
  /** A command to run instead. */
  readonly instead?: string;
}

/** Settings for a whole page. */
export interface PagePlan {
  readonly page: string;
  readonly fill?: Fill;
  /** Runs in the shell of the page before the first command. */
  readonly before?: string;
}

/** All plans of a test run. */
export interface Plans {
  readonly fill: Fill;
  readonly pages: readonly PagePlan[];
  readonly commands: readonly Plan[];
}

/** Returns the first plan that matches a command; plans for its page take precedence. */
export function planFor(command: Command, { commands }: Plans): Plan | undefined {
  const fits = (plan: Plan) =>
    typeof plan.command === 'string' ? plan.command === command.text : plan.command.test(command.text);
  return (
    commands.find((plan) => plan.page === command.page && fits(plan)) ??
    commands.find((plan) => plan.page === undefined && fits(plan))
  );
}

/** Returns the command with values for its placeholders: from its own plan, then its page, then all pages. */
export function withDefaults(command: Command, plans: Plans): string {
  const ofPage = plans.pages.find(({ page }) => page === command.page)?.fill ?? [];
  const fills = [...(planFor(command, plans)?.fill ?? []), ...ofPage, ...plans.fill];
  return fills.reduce((text, [words, value]) => text.replaceAll(words, () => value), command.text);
}

/** Returns a placeholder without a value, which no shell can interpret. */
export function unfilled(text: string): string | undefined {
  return /…|(?<![\w.'"])\.\.\.(?!\w)|<[a-z]+>/.exec(text)?.[0];
}
