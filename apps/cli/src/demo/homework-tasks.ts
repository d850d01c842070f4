export type Field = 'mathematics' | 'science' | 'language' | 'society' | 'computing';

/** The field of each subject, so that homework and remarks fit it. */
export const FIELDS: Record<string, Field> = {
  'Mathematical Methods': 'mathematics',
  'Specialist Mathematics': 'mathematics',
  'General Mathematics': 'mathematics',
  Chemistry: 'science',
  Physics: 'science',
  Biology: 'science',
  Psychology: 'science',
  English: 'language',
  'English Language': 'language',
  Literature: 'language',
  Economics: 'society',
  'Legal Studies': 'society',
  'Modern History': 'society',
  Algorithmics: 'computing',
  'Digital Solutions': 'computing',
};

interface Task {
  title: string;
  note: string;
}

type Kind = 'exam' | 'text';

const EVERYWHERE: Record<Kind, Task[]> = {
  exam: [
    { title: 'Past exam, Section A', note: 'Aim for 45 minutes, then mark it with the examination report.' },
    { title: 'Practice test under timed conditions', note: 'Bring your attempt on paper to the next session.' },
  ],
  text: [
    {
      title: 'Correct last week’s mistakes',
      note: 'Write one sentence on each: what went wrong, and how you noticed.',
    },
    { title: 'Flashcards for the term test', note: 'One idea per card, in your own words.' },
  ],
};

const TASKS: Record<Field, Record<Kind, Task[]>> = {
  mathematics: {
    exam: [{ title: 'Past exam, the part without technology', note: 'No calculator and no notes.' }],
    text: [
      { title: 'Chapter exercises, odd numbers', note: 'Show all working and circle anything you were unsure of.' },
      { title: 'Summary sheet of formulas', note: 'One page. Add an example to each formula.' },
    ],
  },
  science: {
    exam: [
      { title: 'Past exam, multiple choice', note: 'For each answer, say in a few words why the others are wrong.' },
    ],
    text: [
      {
        title: 'Practical report: method and results',
        note: 'Label the axes, and say how sure you are of each value.',
      },
      { title: 'Chapter questions, odd numbers', note: 'Use the terms of the chapter, each of them correctly.' },
    ],
  },
  language: {
    exam: [{ title: 'Timed essay', note: 'Sixty minutes: ten to plan, forty-five to write, five to read it again.' }],
    text: [
      { title: 'Essay plan', note: 'A contention and three arguments, each in one sentence.' },
      { title: 'Comparative paragraph', note: 'Use at least three quotes, and explain the effect of each.' },
    ],
  },
  society: {
    exam: [{ title: 'Past exam, extended response', note: 'Thirty minutes. Underline the command word first.' }],
    text: [
      { title: 'Source analysis', note: 'Who wrote it, for whom, and what does it leave out?' },
      { title: 'Glossary of the chapter', note: 'Define each term and give an example from the news.' },
    ],
  },
  computing: {
    exam: [{ title: 'Past exam, pseudocode questions', note: 'On paper, then trace it with the smallest input.' }],
    text: [
      { title: 'Trace the algorithm by hand', note: 'Write down every variable after each step.' },
      { title: 'Project log of the week', note: 'What you tried, what failed, and what you changed.' },
    ],
  },
};

/** Tasks that a tutor could set in this subject. */
export function tasksIn(subject: string, kind: Kind): Task[] {
  return [...EVERYWHERE[kind], ...TASKS[FIELDS[subject]!][kind]];
}
