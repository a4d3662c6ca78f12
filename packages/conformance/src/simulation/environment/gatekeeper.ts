import type { Gate, Verdict } from '@cobbler/agent';
import type { Program } from '../scenario/program.ts';
import type { World } from '../scenario/world.ts';
import { never } from '../scenario/world.ts';

type GateBehavior = 'allows' | 'denies' | 'asks' | 'changes' | 'throws' | 'mumbles' | 'hangs';

const manners: readonly (readonly [number, GateBehavior])[] = [
  [70, 'allows'],
  [8, 'denies'],
  [16, 'asks'],
  [3, 'changes'],
  [1, 'throws'],
  [1, 'mumbles'],
  [1, 'hangs'],
];

/** The calls allowed without an approval, with their permitted arguments. */
export type Permits = Map<unknown, Readonly<Record<string, unknown>>>;

/** Returns a gate for one program that decides at random and records what it allowed, by call number. */
export function gatekeeper(world: World, program: Program, permits: Permits): Gate {
  return (call, { signal }) => {
    if (!program.alive) return never();
    program.watch(signal);
    program.cross('gate');
    const n = call.arguments['n'];
    const manner = world.choices.among('gate', manners);
    const note = `${program.name}: the gate ${manner} call ${n}`;
    permits.delete(n);
    const decide = (): Verdict => {
      world.note(note);
      if (manner === 'denies') return { type: 'deny', message: `No, not call ${n}.` };
      if (manner === 'asks') return { type: 'ask' };
      if (manner === 'throws') throw new Error('the gate is broken');
      if (manner === 'mumbles') return { type: 'perhaps' } as unknown as Verdict;
      const args = manner === 'changes' ? { ...call.arguments, note: 'changed by the gate' } : call.arguments;
      permits.set(n, args);
      return manner === 'changes' ? { type: 'allow', arguments: args } : { type: 'allow' };
    };
    if (manner === 'hangs') return never();
    if (!world.choices.whether('gate takes time', 0.3)) return decide();
    const ms = world.choices.pick('gate takes', [30, 900, 60_000]);
    return world.later(ms, program, `the gate decides about call ${n}`, decide);
  };
}
