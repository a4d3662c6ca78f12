/** The arguments of a call. */
export type AskedFor = Readonly<Record<string, unknown>>;

type Verdicts<Given extends readonly unknown[]> = readonly (readonly [
  string,
  (...given: Given) => unknown,
])[];

const hostile = (): never => {
  throw new Error('read by accident');
};

const refusingProxy = (): object =>
  new Proxy({}, { get: hostile, has: hostile, ownKeys: hostile, getOwnPropertyDescriptor: hostile });

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({ type: 'allow' }, {});
  revoke();
  return proxy;
}

function round(): Record<string, unknown> {
  const value: Record<string, unknown> = { command: 'changed' };
  value['self'] = value;
  return value;
}

/** Every verdict that permits the call as it is. */
export const allowing: Verdicts<[]> = [
  ['{type: allow}', () => ({ type: 'allow' })],
  ['{behavior: allow}', () => ({ behavior: 'allow' })],
  ['a promise of an allow', async () => ({ type: 'allow' })],
  // biome-ignore lint/suspicious/noThenProperty: this is what the case is about.
  ['a thenable of an allow', () => ({ then: (take: (value: object) => void) => take({ type: 'allow' }) })],
  ['an allow with arguments that are undefined', () => ({ type: 'allow', arguments: undefined })],
  ['an allow with updatedInput that is undefined', () => ({ behavior: 'allow', updatedInput: undefined })],
  ['an allow without a prototype', () => Object.assign(Object.create(null), { type: 'allow' })],
  ['a frozen allow', () => Object.freeze({ type: 'allow' })],
  ['an allow behind a proxy', () => new Proxy({ type: 'allow' }, {})],
];

/** Every verdict that permits the call with other arguments. */
export const changing: Verdicts<[wanted: AskedFor]> = [
  ['an allow with arguments', (wanted) => ({ type: 'allow', arguments: wanted })],
  ['an allow with updatedInput', (wanted) => ({ behavior: 'allow', updatedInput: wanted })],
  [
    'a promise of an allow with updatedInput',
    async (wanted) => ({ behavior: 'allow', updatedInput: wanted }),
  ],
  [
    'an allow with arguments behind a proxy',
    (wanted) => ({ type: 'allow', arguments: new Proxy(wanted, {}) }),
  ],
];

/** What is another thing each time it is read. */
function wavering(first: unknown, name: string, rest: object): object {
  let reads = 0;
  const get = () => {
    reads += 1;
    return reads === 1 ? first : { command: 'swapped' };
  };
  return Object.defineProperty({ ...rest }, name, { get, enumerable: true });
}

/** Verdicts that turn into others while they are read or after. */
export const readOnce: Verdicts<[wanted: AskedFor, shown: Record<string, unknown>]> = [
  [
    'an allow whose arguments are swapped when they are read again',
    (wanted) => wavering(wanted, 'arguments', { type: 'allow' }),
  ],
  [
    'an allow whose argument is swapped when it is read again',
    (wanted) => ({ type: 'allow', arguments: wavering('changed', 'command', wanted) }),
  ],
  [
    'an allow whose arguments are spoiled after it was given',
    (wanted) => {
      const own: Record<string, unknown> = { ...wanted };
      void Promise.resolve().then(async () => {
        for (let turn = 0; turn < 20; turn += 1) await undefined;
        own['command'] = 'spoiled';
      });
      return { type: 'allow', arguments: own };
    },
  ],
  [
    'an allow by a callback that spoils what it was shown',
    (_wanted, shown) => {
      for (const value of Object.values(shown))
        if (typeof value === 'object' && value !== null) Object.assign(value, { spoiled: true });
      shown['command'] = 'spoiled';
      return { type: 'allow' };
    },
  ],
];

/** Everything else is no permission. */
export const refusing: Verdicts<[]> = [
  ['{type: deny}', () => ({ type: 'deny' })],
  ['a deny with a reason', () => ({ type: 'deny', message: 'Not today.' })],
  ['{behavior: deny}', () => ({ behavior: 'deny' })],
  ['a deny with interrupt', () => ({ behavior: 'deny', message: 'Stop.', interrupt: true })],
  ['{behavior: ask}', () => ({ behavior: 'ask' })],
  ['{type: ask} that nobody answers', () => ({ type: 'ask' })],
  ...[undefined, null, true, false, 0, 1, '', 'allow', 'deny', 'yes', 1n, Symbol('allow')].map(
    (value) => [`the value ${String(value) || '""'} of type ${typeof value}`, () => value] as const,
  ),
  ['an empty object', () => ({})],
  ['a list with an allow', () => [{ type: 'allow' }]],
  ['a function', () => () => ({ type: 'allow' })],
  ['an allow inside an allow', () => ({ type: { type: 'allow' } })],
  ['another word', () => ({ type: 'allowed' })],
  ['another case', () => ({ type: 'Allow' })],
  ['a String object', () => ({ type: Object('allow') })],
  ['a decision of an approval', () => ({ decision: 'allow' })],
  ['the output of a hook', () => ({ hookSpecificOutput: { permissionDecision: 'allow' } })],
  ['an allow and a deny at once', () => ({ type: 'allow', behavior: 'deny' })],
  ['an allow in two languages', () => ({ type: 'allow', behavior: 'allow' })],
  ['an allow with the argument field of the other language', () => ({ type: 'allow', updatedInput: {} })],
  ['an allow of the SDK with our argument field', () => ({ behavior: 'allow', arguments: {} })],
  ['an inherited allow', () => Object.create({ type: 'allow' })],
  ...[null, 'all', 7, [], () => ({}), /x/, new Map(), round()].map(
    (odd, index) =>
      [`an allow with odd arguments ${index + 1}`, () => ({ type: 'allow', arguments: odd })] as const,
  ),
  ...[1n, Number.NaN, Symbol('x'), () => 'x', /x/, [undefined], '\ud800'].map(
    (odd, index) =>
      [
        `an allow with an odd argument ${index + 1}`,
        () => ({ type: 'allow', arguments: { command: odd } }),
      ] as const,
  ),
  [
    'an allow with arguments that write themselves',
    () => ({ type: 'allow', arguments: { toJSON: () => ({}) } }),
  ],
  ['an allow whose arguments cannot be read', () => ({ type: 'allow', arguments: refusingProxy() })],
  ['a verdict that cannot be read', refusingProxy],
  ['a revoked proxy', revoked],
  [
    'a getter that throws',
    () => ({
      get type() {
        return hostile();
      },
    }),
  ],
  ['a callback that throws', hostile],
  [
    'a callback that throws nothing',
    () => {
      // biome-ignore lint/style/useThrowOnlyError: code of users throws anything.
      throw undefined;
    },
  ],
  [
    'a callback that throws an allow',
    () => {
      // biome-ignore lint/style/useThrowOnlyError: code of users throws anything.
      throw { type: 'allow' };
    },
  ],
  [
    'a callback that throws what cannot be read',
    () => {
      throw refusingProxy();
    },
  ],
  ['a rejected promise', () => Promise.reject(new Error('No answer.'))],
  ['a promise rejected with an allow', () => Promise.reject({ type: 'allow' })],
  // biome-ignore lint/suspicious/noThenProperty: this is what the case is about.
  ['a thenable that throws', () => ({ type: 'allow', then: hostile })],
  ['a thenable that resolves to nonsense', () => Promise.resolve(Promise.resolve('allow'))],
];
