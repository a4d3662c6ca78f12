import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import { bwrapSandbox } from '@cobbler/agent/sandbox';
import { expect, it, onTestFinished } from 'vitest';
import { createWorld, status } from './world.ts';

it.skipIf(!status.works)(
  'the login to a registry is readable only with this right, and can never be changed (needs bubblewrap) [P21]',
  async () => {
    const world = await createWorld();
    onTestFinished(() => world.close());
    const env = childEnvironment(process.env, { HOME: world.home });
    const sandbox = bwrapSandbox({ workspace: world.workspace, env }, status.works ? status.program : '');
    const run = async (registry: boolean) => {
      const argv = ['/bin/sh', '-c', 'exec 2>&1; cat ~/.npmrc; echo bad >> ~/.npmrc; cat ~/.netrc'] as const;
      const own = sandbox.with({ registry });
      return (await superviseProcess({ argv, cwd: world.workspace, env, sandbox: own }).ended).stdout.text();
    };
    expect(await run(false)).not.toContain(world.token);
    expect((await run(true)).split(world.token)).toHaveLength(2);
    expect(world.content('home/.npmrc')).toBe(`${world.token}\n`);
    expect(
      [sandbox, sandbox.with({ registry: true })].map((one) => one.explain('npm error code E401')),
    ).toEqual([expect.stringContaining('hides the login'), undefined]);
  },
);
