import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createWorld, status } from './world.ts';

it.skipIf(!status.works)(
  'a program can neither change nor create what is locked in its own directory (needs bubblewrap) [P21]',
  async () => {
    const world = await createWorld();
    onTestFinished(() => world.close());
    const [own, elsewhere] = [join(world.home, '.tool'), join(world.home, 'dotfiles')];
    for (const folder of [join(own, 'hooks'), elsewhere]) mkdirSync(folder, { recursive: true });
    for (const file of [join(own, 'config'), join(elsewhere, 'rules')]) writeFileSync(file, 'mine\n');
    symlinkSync(join(elsewhere, 'rules'), join(own, 'rules'));
    const locked = ['config', 'hooks', 'rules', 'absent'].map((name) => join(own, name));
    const script = `cd ~/.tool; cat rules; echo kept > data
      echo bad > config; mv config x; echo bad > hooks/x; mv hooks y; echo bad > rules
      rm rules; ln -s config rules; ln -s /nowhere absent`;
    const end = await world.run(script, { write: [own], locked });

    expect(end.stdout.text()).toContain('mine');
    const read = (path: string) => readFileSync(path, 'utf8');
    expect([read(join(own, 'config')), read(join(elsewhere, 'rules'))]).toEqual(['mine\n', 'mine\n']);
    expect(read(join(own, 'data'))).toBe('kept\n');
    expect(existsSync(join(own, 'hooks/x'))).toBe(false);
    expect(readlinkSync(join(own, 'rules'))).toBe(join(elsewhere, 'rules'));
    expect(readlinkSync(join(own, 'absent.blocked'))).toBe('/nowhere');
    expect(end.undone).toEqual([
      expect.stringContaining('.tool/rules'),
      expect.stringContaining('restored as a symbolic link'),
      expect.stringContaining('renamed to .tool/absent.blocked'),
    ]);
  },
);
