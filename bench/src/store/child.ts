// One measured process: does what its arguments say and writes the figures as one line of JSON.
import { measureAppends } from './append.ts';
import { measureOpening } from './opening.ts';
import { measureTurns } from './turns.ts';

const [what, folder = '', url = '', turns = ''] = process.argv.slice(2);

function measure(): Promise<object> {
  if (what === 'append') return measureAppends(folder);
  if (what === 'turns') return measureTurns(folder, url, Number(turns));
  return measureOpening(folder);
}

process.stdout.write(`${JSON.stringify(await measure())}\n`, () => process.exit());
