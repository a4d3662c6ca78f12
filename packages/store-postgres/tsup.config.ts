import { bundle } from '../../tsup.base.ts';

export default bundle({ index: 'src/index.ts', runner: 'src/runner.ts', budgets: 'src/budgets.ts' });
