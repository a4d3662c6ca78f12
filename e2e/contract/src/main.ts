// Runs the contracts of all agents, of the executor, and of all harnesses, stores and runners, and prints how many
// cases of each group passed for which subject:
//
//   npm run verify -- contract                all wires, the executor, all harnesses, stores and runners
//   npm run verify -- contract harness        the harnesses
//   npm run verify -- contract store runner   the stores and the runners
//   npm run verify -- contract assistant      the channels, stores and memories of the assistant
//   npm run verify -- contract chat claude    those with these words in their names
//
// A provider, store or channel in a separate package is found by its test/subjects.ts. A case that a wire
// does not support is off, with the reason, and counts as neither passed nor failed. A suite that needs a
// missing server is reported as not run. An unhandled rejection, a warning of the process and memory that is
// retained at the end are failures like any other.
import { firstSteps, runContract } from '@cobbler/conformance';
import type { Column } from './column.ts';
import { runSuite, table } from './column.ts';
import type { Suite } from './suite.ts';
import { allSuites } from './suites.ts';

/** Maximum number of failures to print per suite: if everything fails, the first ones show the cause. */
const maxShown = 30;

/** Unhandled errors and warnings of the process. */
function watchProcess(): string[] {
  const troubles: string[] = [];
  process.on('unhandledRejection', (reason) => troubles.push(`unhandled rejection: ${String(reason)}`));
  process.on('uncaughtException', (error) => troubles.push(`uncaught error: ${error.message}`));
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') troubles.push(`warning: ${name}: ${message}`);
  });
  return troubles;
}

async function main(words: readonly string[]): Promise<number> {
  const suites = await allSuites();
  const wanted = suites.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  if (wanted.length === 0) {
    print(`No suite has that name. The suites are: ${suites.map(({ name }) => name).join(', ')}.`);
    return 1;
  }
  const troubles = watchProcess();
  const columns: Column[] = [];
  const unwritten = new Set<string>();
  const missing = wanted.filter((suite) => suite.missing !== undefined);
  const possible = wanted.filter((suite) => suite.missing === undefined);
  for (const together of Map.groupBy(possible, ({ contract }) => contract).values()) {
    const done: Column[] = [];
    for (const suite of together) {
      const steps = await unwrittenSteps(suite);
      if (steps.length > 0) unwritten.add(steps.join('\n'));
      else done.push(await runSuite(suite, troubles));
    }
    if (done.length === 0) continue;
    print(table(done));
    for (const { name, off } of done)
      for (const [reason, count] of off) print(`off on ${name}: ${count} (${reason})`);
    print('');
    columns.push(...done);
  }
  for (const suite of missing) print(`NOT RUN: ${suite.name}: ${suite.missing}`);
  for (const { name, failures } of columns) {
    for (const { group, name: what, message } of failures.slice(0, maxShown))
      print(`FAILED on ${name}: ${group}: ${what}: ${message}`);
    if (failures.length > maxShown) print(`FAILED on ${name}: ${failures.length - maxShown} more`);
  }
  if (unwritten.size > 0) {
    print([...unwritten].join('\n'));
    return 1;
  }
  // If no suite could run, nothing was verified.
  return columns.length > 0 && columns.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

/** Advice for the author of a generated package, parts of which are not written yet. */
async function unwrittenSteps({ probe }: Suite): Promise<readonly string[]> {
  if (probe === undefined) return [];
  const { failures } = await runContract(probe());
  return firstSteps(failures);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const code = await main(process.argv.slice(2));
// Resources that a case left open would keep the process alive.
process.stdout.write('', () => process.exit(code));
