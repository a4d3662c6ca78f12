// Runs what every agent has to do on every wire there is and prints how many cases of each group held:
//
//   npm run contract                   all wires
//   npm run contract -- chat claude    those with such words in their name
//
// A case that a wire cannot be asked is off, with the reason; it counts towards neither number.
import { createAgent } from '@cobbler/agent/provider';
import type { ContractSubject } from '@cobbler/agent/testing';
import {
  agentContract,
  runContract,
  scriptCapabilities,
  scriptTesting,
  scriptWire,
} from '@cobbler/agent/testing';
import { lanternTesting } from '../packages/agent/test/made-up-wire/testing.ts';
import { createLantern } from '../packages/agent/test/made-up-wire/wire.ts';
import { subjects as claude } from '../packages/provider-claude/test/subjects.ts';
import { subjects as openai } from '../packages/provider-openai/test/subjects.ts';

const scripted: ContractSubject = {
  name: 'scripted',
  create: ({ baseURL, apiKey, ...options }) =>
    createAgent(scriptWire({ baseURL, apiKey }), {
      model: 'scripted-model',
      capabilities: scriptCapabilities,
      ...options,
    }),
  testing: scriptTesting,
};

const lantern: ContractSubject = { name: 'made up', create: createLantern, testing: lanternTesting };

async function main(words: readonly string[]): Promise<number> {
  const all = [...claude, ...openai, scripted, lantern];
  const wanted = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  const lines: string[] = [];
  let failed = 0;
  for (const subject of wanted) {
    const began = performance.now();
    print(`\n${subject.name}`);
    const { total, passed, off, failures } = await runContract(agentContract(subject), (line) =>
      print(`  ${line}`),
    );
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    lines.push(`${subject.name.padEnd(16)}  ${passed}/${total} hold, ${off} off, ${seconds} s`);
    failed += failures.length;
  }
  print(`\n${lines.join('\n')}`);
  return failed === 0 && wanted.length > 0 ? 0 : 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = await main(process.argv.slice(2));
