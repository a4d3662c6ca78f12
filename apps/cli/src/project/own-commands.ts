import type { CommandDefinition } from '@cobbler/agent/definitions';

const init = `Write a file AGENTS.md in the root of this project, for agents that will work on it. If the file exists, improve it.

First read the README, the build and test configuration, and some sources and tests. Then write at most 60 lines:

- how to install, build and run the project, how to run all tests and a single test, and how to check the style
- the most important directories, in one line each
- conventions and pitfalls that a newcomer would not guess

Write only what you found in the project. Leave out general advice. If a command is quick and safe, run it to check it.`;

const review = `Review the uncommitted changes in this repository, including untracked files. Do not change anything.

Read the complete diff, and enough of the code around it to judge it. Look for bugs, unhandled errors, security problems,
broken callers, missing tests and documentation that is now wrong. Leave out matters of taste.

For each problem, state the file and line, the case in which it occurs, what happens then, and how to fix it. Start with the
most serious one. Check each problem against the code before you report it. If you find none, say so.`;

function ownCommand(name: string, description: string, body: string): CommandDefinition {
  return { kind: 'command', name, description, body, path: '', digest: '' };
}

/** The commands of this program that are prompts. A user's command or skill with the same name replaces one. */
export const ownCommands: readonly CommandDefinition[] = [
  ownCommand('init', 'write an AGENTS.md for this project', init),
  ownCommand('review', 'review the uncommitted changes', review),
];
