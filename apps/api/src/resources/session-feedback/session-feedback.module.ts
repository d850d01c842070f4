import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { SessionFeedbackController } from './session-feedback.controller.js';
import { SessionFeedbackService } from './session-feedback.service.js';

@Module({ imports: [HttpModule], controllers: [SessionFeedbackController], providers: [SessionFeedbackService] })
export class SessionFeedbackModule {}
