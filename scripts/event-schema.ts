// Writes the types of events and packages/agent/test/event-schema.json, unless the event format has changed in a way
// that breaks readers.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventJsonSchema } from '../packages/agent/src/store/format.ts';
import { eventTypes } from '../packages/agent/test/events/event-types.ts';
import { schemaChange } from '../packages/agent/test/events/schema-change.ts';

const file = fileURLToPath(new URL('../packages/agent/test/event-schema.json', import.meta.url));
const { added, broken } = schemaChange(JSON.parse(readFileSync(file, 'utf8')), eventJsonSchema());
if (broken.length > 0) {
  process.stderr.write(
    `This change breaks readers; see docs/events.md. Nothing was written.\n  ${broken.join('\n  ')}\n`,
  );
  process.exitCode = 1;
} else {
  const types = Object.entries(eventTypes()).map(([path, text]) => {
    const place = fileURLToPath(new URL(`../packages/agent/src/${path}`, import.meta.url));
    writeFileSync(place, text);
    return place;
  });
  execFileSync('biome', ['check', '--write', ...types]);
  writeFileSync(file, `${JSON.stringify(eventJsonSchema(), undefined, 1)}\n`);
  process.stdout.write(`${added.length === 0 ? 'Nothing was added.' : added.join('\n')}\n`);
}
