// Shows a gate with rules that allow some calls and deny others. A user decides on the rest.
// Run it with: npm run try -- examples/gate.ts
import { defineTool, Executor, rules } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { z } from 'zod';

// `subject` returns the most important argument. Rules match against it, and users see it.
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
  // A `*` never matches characters that join two commands, so this rule does not allow the second command.
  gate: rules({ allow: ['shell(npm test*)'], deny: ['shell(rm *)'] }),
  // A user can respond. Without this option, the run would end as `waiting`, and you could resume it later.
  attended: true,
});

const run = executor.run('Test it and publish it.');
run.subscribe((event) => {
  if (event.type === 'approval_requested') {
    // The call has not started yet. The decision applies to exactly these arguments.
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
