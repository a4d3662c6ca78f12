import { ContractFailure } from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';
import { contentPlaces } from './content.ts';
import { handedOutCases } from './handed-out.ts';
import { optionPlaces } from './options.ts';
import { partPlaces } from './parts.ts';
import { belongs, passAt } from './place.ts';
import { resultPlaces } from './results.ts';
import { sequenceCases } from './sequences.ts';
import { sessionPlaces } from './sessions.ts';
import { oddValues } from './values.ts';

const the = group('untyped callers');

/** Number of failures that a case reports. */
const maxShown = 5;

/** Returns the cases that pass every `step`th value at each place; `print` receives their counts. */
export function untypedCases(step = 1, print: (line: string) => void = () => {}): readonly ExecutorCase[] {
  let rejected = 0;
  let accepted = 0;
  const places = [...optionPlaces, ...contentPlaces, ...resultPlaces, ...sessionPlaces, ...partPlaces];
  return [
    ...handedOutCases,
    ...sequenceCases(step === 1 ? 200 : 20, print),
    ...places.map((at, index) =>
      the(`${at.name} is read once or rejected with its place [P26]`, async (_, createSetup) => {
        const failures: string[] = [];
        for (const odd of oddValues.filter(
          (value, number) => (number + index) % step === 0 && belongs(at, value),
        )) {
          try {
            if (await passAt(at, odd, createSetup())) rejected += 1;
            else accepted += 1;
          } catch (error) {
            failures.push(`${odd.name}: ${error instanceof Error ? error.message : 'an unreadable error'}`);
          }
        }
        if (failures.length > 0)
          throw new ContractFailure(
            `${failures.length} values at ${at.name}: ${failures.slice(0, maxShown).join('\n')}`,
          );
      }),
    ),
    the('the number of values that were passed [P26]', async () => {
      print(
        `untyped callers: ${rejected + accepted} values at ${places.length} places: ${rejected} rejected, ${accepted} accepted`,
      );
    }),
  ];
}
