import { bundle } from '../../tsup.base.ts';

export default bundle(
  {
    index: 'src/index.ts',
    'events/index': 'src/events/index.ts',
    'harness/index': 'src/harness/index.ts',
    'store/budgets/index': 'src/store/budgets/index.ts',
    'context/index': 'src/context/index.ts',
    'run/compose/index': 'src/run/compose/index.ts',
    'interfaces/resolve-agent': 'src/interfaces/resolve-agent.ts',
    'runner/index': 'src/runner/index.ts',
    'runner/runner-harness': 'src/runner/runner-harness.ts',
    'cassette/index': 'src/cassette/index.ts',
    'provider/request/transcript': 'src/provider/request/transcript.ts',
    'testing/scenarios': 'src/testing/scenarios.ts',
    'values/input': 'src/values/input.ts',
    'values/index': 'src/values/index.ts',
    'store/fork-session': 'src/store/fork-session.ts',
    'store/format': 'src/store/format.ts',
    'store/index': 'src/store/index.ts',
    'provider/batch/index': 'src/provider/batch/index.ts',
    'provider/index': 'src/provider/index.ts',
    'node/index': 'src/node/index.ts',
    'node/sqlite-runner/sqlite-runner': 'src/node/sqlite-runner/sqlite-runner.ts',
    'node/sqlite-budgets/sqlite-budgets': 'src/node/sqlite-budgets/sqlite-budgets.ts',
    'remote/index': 'src/remote/index.ts',
    'testing/index': 'src/testing/index.ts',
    // The two ends of `#transport`, which the importing program's conditions choose between.
    'provider/fetch-transport': 'src/provider/http/fetch-transport.ts',
    'node/transport': 'src/node/transport.ts',
  },
  ['#transport'],
);
