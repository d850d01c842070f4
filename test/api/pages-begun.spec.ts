import { setImmediate } from 'node:timers/promises';
import { Overloaded } from '../../apps/api/src/http/errors/api-error.js';
import { LargeAnswers } from '../../apps/api/src/http/lists/large-answers.js';

const weightless = () => 0;
const empty = () => Promise.resolve([]);

describe('pages that an organization begins at once', () => {
  const begin = (answers: LargeAnswers, ...lists: string[]) => {
    const under = { way: 0 };
    const gate = Promise.withResolvers<[]>();
    const pages = lists.map((list) => answers.first('school', list, () => (under.way++, gate.promise), weightless));
    return { under, end: () => (gate.resolve([]), Promise.all(pages)) };
  };

  it.each([
    ['are not limited for an organization by itself', [], 5],
    ['are one while another organization reads pages', ['other'], 1],
    ['are not limited after its own pages', ['school', 'school'], 5],
  ])('%s', async (_, before, wanted) => {
    const answers = new LargeAnswers();
    for (const organization of before) await answers.first(organization, 'homework', empty, weightless);
    const { under, end } = begin(answers, ...Array<string>(5).fill('payments'));
    await setImmediate();
    expect(under.way).toBe(wanted);
    await end();
    expect(under.way).toBe(5);
  });

  it('are one of all heavy lists, also of those that were already waiting', async () => {
    const answers = new LargeAnswers();
    await answers.first('other', 'homework', empty, weightless);
    answers.noteHeavy('school', 'posts');
    const waiting = Promise.withResolvers<[]>();
    const first = answers.first('school', 'payments', () => waiting.promise, weightless);
    const { under, end } = begin(answers, 'posts', 'results', 'results');
    await setImmediate();
    expect(under.way).toBe(1);
    answers.noteHeavy('school', 'results');
    waiting.resolve([]);
    await first;
    await setImmediate();
    expect(under.way).toBe(1);
    await end();
    expect(under.way).toBe(3);
  });

  it('begin after the share of the time that the size of the one before takes', async () => {
    const answers = new LargeAnswers();
    await answers.first('other', 'homework', empty, weightless);
    await answers.first('school', 'payments', empty, () => 400_000);
    const { under, end } = begin(answers, 'payments');
    await setImmediate();
    expect(under.way).toBe(0);
    await end();
    expect(under.way).toBe(1);
  });

  it('do not wait long for one that hangs', async () => {
    const answers = new LargeAnswers();
    await answers.first('other', 'homework', empty, weightless);
    const { end } = begin(answers, 'payments');
    await expect(answers.first('school', 'payments', empty, weightless)).resolves.toEqual([]);
    await end();
  });

  it('do not wait for one that failed', async () => {
    const answers = new LargeAnswers();
    await answers.first('other', 'homework', empty, weightless);
    const failed = answers.first('school', 'payments', () => Promise.reject(new Error('no')), weightless);
    await expect(failed).rejects.toThrow('no');
    await expect(answers.first('school', 'payments', empty, weightless)).resolves.toEqual([]);
  });

  it('are refused beyond what can be sent in time', async () => {
    const answers = new LargeAnswers();
    const open = (organization: string, bytes: number) =>
      answers.inParts(organization, 'posts', ['a', 'b'], bytes, () => Promise.resolve({ count: 1, data: 'x' }));
    const first = open('school', 2e9);
    await first.next();
    expect(() => answers.check('school', 'posts')).toThrow(Overloaded);
    await expect(open('school', 1).next()).rejects.toThrow(Overloaded);
    await expect(open('other', 1).next()).resolves.toMatchObject({ done: false });
    await first.return(undefined);
    answers.check('school', 'posts');
    await expect(open('school', 1).next()).resolves.toMatchObject({ done: false });
  });
});
