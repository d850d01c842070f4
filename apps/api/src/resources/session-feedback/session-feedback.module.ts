import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { SessionFeedbackController } from './session-feedback.controller.js';

@Module({ imports: [HttpModule], controllers: [SessionFeedbackController] })
export class SessionFeedbackModule {}
