// A measured process: performs the measurement in its arguments and prints the results as one line of JSON.

import { startScript, workNamed } from '../work.ts';
import { measureAppends } from './append.ts';
import { measureOpening } from './opening.ts';
import { measureTurns } from './turns.ts';

const [what, folder = ''] = process.argv.slice(2);

function measure(): Promise<object> {
  if (what === 'append') return measureAppends(folder);
  if (what === 'turns') return measureTurns(folder, workNamed('t50')?.script ?? startScript);
  return measureOpening(folder);
}

process.stdout.write(`${JSON.stringify(await measure())}\n`, () => process.exit());
