// A process that reserves a dollar of the budget `team` and waits with another request, then runs until it is killed.
import { sqliteBudgets } from '../../src/node/sqlite-budgets/sqlite-budgets.ts';
import { systemRuntime } from '../../src/values/runtime.ts';

const [file = '', now = ''] = process.argv.slice(2);
const store = sqliteBudgets({ file, runtime: { ...systemRuntime, now: () => Number(now) } });
const dollar = { usd: 1, tokens: 0, requests: 1 };
const request = { budget: 'team', sessionId: 's', runId: 'r', wanted: dollar, least: dollar };
const held = await store.reserve({ ...request, id: 'child-1' });
const waiting = await store.reserve({ ...request, id: 'child-2' });
process.stdout.write(`${held.state} ${waiting.state}\n`);
process.stdin.resume().on('end', () => process.exit());
