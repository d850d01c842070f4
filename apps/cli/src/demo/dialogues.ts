/** Messages by type of conversation: four lines, which the participants write in turn. */
export const DIALOGUES: Record<string, string[][]> = {
  // Tutor and student alternate.
  direct: [
    [
      'Hi! Are we still on for this week?',
      'Yes, same time. Shall I bring the practice test?',
      'Please do, and your questions about it.',
      'Will do, thanks. See you then!',
    ],
    [
      'Hi! How did the test go?',
      'Better than the last one. The worked example helped a lot.',
      'Great! We will go through the rest next time.',
      'Thank you, see you then.',
    ],
    [
      'Could we move this week’s lesson to 5 pm? There is a school concert.',
      'Yes, 5 pm is fine.',
      'Thank you. Bring the exercise that you got stuck on.',
      'I will.',
    ],
  ],
  // The tutor, the student, then a parent if there is one.
  triad: [
    [
      'A short report: the past exam went well this week.',
      'I still need more practice with the last section.',
      'Let us plan an extra lesson before the exam, then.',
      'Good idea, thank you!',
    ],
    [
      'Hello! Could we use the holidays for two revision lessons?',
      'The first week would suit me.',
      'Tuesday and Thursday morning of the first week, then?',
      'Perfect.',
    ],
  ],
  // Started by the system; only students write.
  group: [
    [
      'The group was created.',
      'Who is coming to the library on Saturday?',
      'I am. Ten o’clock?',
      'Ten is good, see you there.',
    ],
    [
      'The group was created.',
      'Did anybody get the last question?',
      'Half of it. I can show you tomorrow.',
      'Me too, please!',
    ],
  ],
  // The teacher, then the class.
  classroom_feed: [
    ['The worksheet for next week is up.', 'Thank you!', 'Is it both pages?', 'It says page one only.'],
    [
      'No class on the public holiday. We continue the week after.',
      'Thanks for letting us know.',
      'Is the homework due then, too?',
      'I think so.',
    ],
  ],
};

/** The text that accompanies a picture or a file. */
export const ATTACHED = 'Here it is.';
