import { describePublicFunctions } from './public-functions/describe.ts';

// public-functions.slow.test.ts passes all values.
describePublicFunctions(true);
