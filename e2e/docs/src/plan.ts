// How each command of the documents is run. Whatever no plan speaks of is run as it stands and has to end with 0.
import type { Command } from './commands.ts';

/**
 * `run`: to its end. `server`: until it is ready; it then serves the rest of the page and is ended by Ctrl-C.
 * `terminal`: at a terminal, with keys typed. `speak`: it is sent a first message of its protocol and answers.
 * `follow`: until it has printed something, then Ctrl-C.
 */
export type Way = 'run' | 'server' | 'terminal' | 'speak' | 'follow';

/** What is put for a placeholder, by its words. */
export type Fill = readonly (readonly [words: string, value: string])[];

/** What is typed at a terminal, each behind something seen. */
export type Keys = readonly (readonly [seen: RegExp, typed: string])[];

/** How commands that look so are run. */
export interface Plan {
  /** The page it is for. Default: any. */
  readonly page?: string;
  /** The command as it stands in the page, or how it looks. */
  readonly command: string | RegExp;
  /** Default: `run`. */
  readonly way?: Way;
  readonly fill?: Fill;
  /** Done in the same shell before, for what a reader would have by then. */
  readonly before?: string;
  /** Has to succeed afterwards, in the same shell: the command did what the page says. */
  readonly after?: string;
  /** What is seen when a server is ready, or by its reader. */
  readonly prints?: RegExp;
  /** What is not seen when all is well. */
  readonly never?: RegExp;
  /** Exit codes that mean what the page says. Default: 0; at Ctrl-C 130 too. */
  readonly codes?: readonly number[];
  /** A server that the later commands of the page need beside their own. */
  readonly stays?: true;
  readonly keys?: Keys;
  /** The page promises that no key is needed: there is none. */
  readonly keyless?: true;
  /** Takes long and does the same on every page: it is run where it stands first. */
  readonly once?: true;
  /** Why it cannot be run here, or is a suite that runs on its own. */
  readonly apart?: string;
  /** What is run in its place. */
  readonly instead?: string;
}

/** What holds for a whole page. */
export interface PagePlan {
  readonly page: string;
  readonly fill?: Fill;
  /** Done in its shell before the first command. */
  readonly before?: string;
}

/** All the plans of a run. */
export interface Plans {
  readonly fill: Fill;
  readonly pages: readonly PagePlan[];
  readonly commands: readonly Plan[];
}

/** The plan that is made for a command: the first that fits, those of its own page before all others. */
export function planFor(command: Command, { commands }: Plans): Plan | undefined {
  const fits = (plan: Plan) =>
    typeof plan.command === 'string' ? plan.command === command.text : plan.command.test(command.text);
  return (
    commands.find((plan) => plan.page === command.page && fits(plan)) ??
    commands.find((plan) => plan.page === undefined && fits(plan))
  );
}

/** The command with values in the place of placeholders: its own first, then those of its page, then all others. */
export function withDefaults(command: Command, plans: Plans): string {
  const ofPage = plans.pages.find(({ page }) => page === command.page)?.fill ?? [];
  const fills = [...(planFor(command, plans)?.fill ?? []), ...ofPage, ...plans.fill];
  return fills.reduce((text, [words, value]) => text.replaceAll(words, () => value), command.text);
}

/** What is left of a placeholder, which no shell would understand. */
export function unfilled(text: string): string | undefined {
  return /…|(?<![\w.'"])\.\.\.(?!\w)|<[a-z]+>/.exec(text)?.[0];
}
